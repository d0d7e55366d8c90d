package tests

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint/cluster"
)

// Status says whether the server stores messages, and leaves none.
func TestHealth(t *testing.T) {
	t.Parallel()
	where := newServer(t, func(o *server.Options) { o.JetStreamMaxStore = 1 << 20 })
	client, c := connect(t, where), look(t, where)
	s, err := client.Status(bounded(t))
	if err != nil || s.Store != "" {
		t.Errorf("Status = %+v, %v; want that it stores", s, err)
	}
	c.nothingLeft(t)
	for i := 0; err == nil; i++ {
		_, err = c.js.Publish(bounded(t), fmt.Sprint("stint.result.run.", i), make([]byte, 1<<18))
	}
	s, err = client.Status(bounded(t))
	if err != nil || !strings.Contains(s.Store, "insufficient resources") {
		t.Errorf("Status = %+v, %v; want that it is full", s, err)
	}
}

// An observer has its Status, without dead letters.
func TestObserverSeesNoItems(t *testing.T) {
	t.Parallel()
	where := newServer(t, func(o *server.Options) {
		o.Users = []*server.User{{Username: "ann", Password: "a"}, {Username: "olga", Password: "o", Permissions: &server.Permissions{
			Publish: &server.SubjectPermission{Deny: []string{"$JS.API.STREAM.MSG.GET.stint-dead"}},
		}}}
	})
	ann := connect(t, strings.Replace(where, "//", "//ann:a@", 1))
	if _, err := look(t, strings.Replace(where, "//", "//ann:a@", 1)).js.Publish(bounded(t), "stint.dead.run.0", []byte(`{"id":"run/0"}`)); err != nil {
		t.Fatal(err)
	}
	s, err := ann.Status(bounded(t))
	if err != nil || len(s.DeadLetters) != 1 {
		t.Errorf("Status = %+v, %v; want one dead letter", s, err)
	}
	s, err = connect(t, strings.Replace(where, "//", "//olga:o@", 1)).Status(bounded(t))
	if err != nil || len(s.DeadLetters) != 0 {
		t.Errorf("Status = %+v, %v; want none for who may not read it", s, err)
	}
}

// A worker has one answer for all who ask at about the same time, and each of them receives an
// answer that is newer than its question.
func TestWorkersAnswerAllAtOnce(t *testing.T) {
	t.Parallel()
	const workers, clients, questions, rounds = 3, 20, 25, 3
	where, j := newServer(t), newJournal(t)
	for range workers {
		serve(t, connect(t, where), 1, newTask(j))
	}
	client := connect(t, where)
	eventually(t, "all workers answer", func() bool {
		s, err := client.Health(bounded(t))
		return err == nil && len(s.Workers) == workers
	})
	subs := make([]*nats.Subscription, clients+1) // the last one only counts
	conns := make([]*nats.Conn, len(subs))
	for i := range subs {
		conns[i] = look(t, where).js.Conn()
		var err error
		if subs[i], err = conns[i].SubscribeSync("stint.status"); err != nil {
			t.Fatal(err)
		}
		if err := conns[i].Flush(); err != nil {
			t.Fatal(err)
		}
	}
	for round := range rounds {
		begin(bounded(t), client, newTask(j), items(1, item{})).succeed(t, 1)
		for _, nc := range conns[:clients] {
			for range questions {
				if err := nc.Publish("stint.workers", nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, sub := range subs[:clients] {
			for done := map[string]int64{}; len(done) < workers || sum(done) != int64(round)+1; {
				m, err := sub.NextMsgWithContext(bounded(t))
				if err != nil {
					t.Fatalf("round %d: %v after answers of %v; want all workers, after the task", round, err, done)
				}
				var w cluster.WorkerStatus
				if err := json.Unmarshal(m.Data, &w); err != nil {
					t.Fatal(err)
				}
				done[w.ID] = w.Done
			}
		}
	}
	if err := conns[clients].Flush(); err != nil {
		t.Fatal(err)
	}
	const asked = clients * questions * rounds
	if n, _, err := subs[clients].Pending(); err != nil || n > workers*asked/10 {
		t.Errorf("%d workers sent %d answers to %d questions, %v; want at most one to ten questions", workers, n, asked, err)
	}
}

// sum returns the sum of the values.
func sum(m map[string]int64) (n int64) {
	for _, v := range m {
		n += v
	}
	return n
}
