package tests

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint/cluster"
)

// badRecords are messages in the place of the record of the run "x".
var badRecords = map[string]string{
	"no JSON":         "what is this",
	"nothing":         "",
	"null":            "null",
	"another type":    `[1, 2]`,
	"no fields":       "{}",
	"a number too":    `{"run":"x","key":"x:1","task":"work/v1","owner":"me","window":"many"}`,
	"another run":     `{"run":"y","key":"y:1","task":"work/v1","owner":"me","window":1,"submitted":-1}`,
	"another key":     `{"run":"x","key":"y:1","task":"work/v1","owner":"me","window":1,"submitted":-1}`,
	"no key":          `{"run":"x","key":"","task":"work/v1","owner":"me","window":1,"submitted":-1}`,
	"a wildcard":      `{"run":"x","key":"x:*.*","task":"work/v1","owner":"me","window":1,"submitted":-1}`,
	"no task":         `{"run":"x","key":"x:1","task":"","owner":"me","window":1,"submitted":-1}`,
	"no owner":        `{"run":"x","key":"x:1","task":"work/v1","owner":"","window":1,"submitted":-1}`,
	"negative window": `{"run":"x","key":"x:1","task":"work/v1","owner":"me","named":true,"window":-1,"submitted":-1}`,
	"negative limit":  `{"run":"x","key":"x:1","task":"work/v1","owner":"me","named":true,"window":1,"limit":-1,"submitted":-1}`,
	"negative end":    `{"run":"x","key":"x:1","task":"work/v1","owner":"me","named":true,"window":1,"submitted":-2}`,
}

// A malformed record becomes a dead letter, and affects no run and no Status.
func TestBadRecords(t *testing.T) {
	t.Parallel()
	for name, data := range badRecords {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where, j := newServer(t), newJournal(t)
			client, counter := connect(t, where), look(t, where)
			for _, run := range []string{"x", "other", "*"} {
				counter.publish(t, "stint.run."+run, data)
			}
			serve(t, connect(t, where), 2, newTask(j))
			if _, errs := resumed(t, client, newTask(j), "other"); len(errs) != 1 {
				t.Errorf("Resume: got %v, want an error", errs)
			}
			begin(bounded(t), client, newTask(j), items(4, item{}), cluster.Name("x"), cluster.Limit(2)).succeed(t, 4)
			s, err := client.Status(bounded(t))
			if err != nil || len(s.Runs) != 0 || len(s.DeadLetters) != 3 {
				t.Fatalf("Status: %+v, %v, want no run, and three dead letters", s, err)
			}
			for _, a := range s.DeadLetters {
				if !strings.HasPrefix(a.ID, "runs/") || string(a.Input) != data || !strings.Contains(a.Reason, "stint.run.") {
					t.Errorf("dead letters: %+v", a)
				}
			}
			eventually(t, "no record is left, and no message of Status", func() bool { return len(counter.subjects(t, "stint-runs")) == 0 })
		})
	}
}

// A run whose record is overwritten by another message continues, whoever finds that message
// first: a caller of Status, or the submitter, since the worker does not look in this time.
func TestRecordIsOverwritten(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"Status", "the submitter"} {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			where, j := newServer(t), newJournal(t)
			client, counter := connect(t, where), look(t, where)
			serve(t, connect(t, where, cluster.Heartbeat(time.Hour)), 4, newTask(j))
			c := begin(bounded(t), client, newTask(j), items(8, item{Do: "wait", Gate: "end"}))
			j.seen(t, 4, "begun", is("begin"))
			counter.queued(t, 8)
			subject := counter.subjects(t, "stint-runs")[0]
			counter.publish(t, subject, "what is this")
			if first == "the submitter" {
				eventually(t, "a dead letter", func() bool { return len(counter.subjects(t, "stint-dead")) == 1 })
			}
			eventually(t, "the record is there again", func() bool {
				s, err := client.Status(bounded(t))
				return err == nil && len(s.Runs) == 1 && len(s.DeadLetters) == 1
			})
			j.open(t, "end")
			c.succeed(t, 8)
		})
	}
}

// A run with a Name ends while another message hides its record. Both are removed, and the Name
// is free again.
func TestRecordIsHiddenAtTheEnd(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	seldom := cluster.Heartbeat(time.Hour) // nobody finds the message before the end
	client, counter := connect(t, where, seldom), look(t, where)
	serve(t, connect(t, where, seldom), 4, newTask(j))
	c := begin(bounded(t), client, newTask(j), items(8, item{Do: "wait", Gate: "end"}), cluster.Name("x"))
	j.seen(t, 4, "begun", is("begin"))
	counter.publish(t, "stint.run.x", "what is this")
	j.open(t, "end")
	c.succeed(t, 8)
	equal(t, "records", len(counter.subjects(t, "stint-runs")), 0)
	begin(bounded(t), client, newTask(j), items(8, item{}), cluster.Name("x")).succeed(t, 8)
}

// Messages in the queue that are no tasks become dead letters. Malformed results, marks and
// dead letters have no effect.
func TestBadMessages(t *testing.T) {
	t.Parallel()
	const many = 500
	where, j := newServer(t), newJournal(t)
	client, counter := connect(t, where), look(t, where)
	bad := []string{"run.x", "run.-1", "run.007", "run.+7", "run.1.2", "run", ":.1", "a:.1", "*.1", "run.99999999999999999999"}
	for _, rest := range bad {
		counter.publish(t, "stint.task.work=v1."+rest, "{}")
	}
	for i := range many {
		counter.publish(t, fmt.Sprint("stint.task.work=v1.run.x", i), "{}")
	}
	counter.publish(t, "stint.result.run.x", "what is this")
	counter.publish(t, "stint.alone.run.x.y", "what is this")
	counter.publish(t, "stint.dead.run.x", "what is this")
	serve(t, connect(t, where, cluster.Heartbeat(time.Minute)), 4, newTask(j)) // it does not purge during the test
	counter.workers(t)
	for _, subject := range []string{"stint.over.x", "stint.over.:", "stint.over.purge", "stint.workers"} {
		if err := counter.js.Conn().Publish(subject, []byte("what is this")); err != nil {
			t.Fatal(err)
		}
	}
	begin(bounded(t), client, newTask(j), items(50, item{})).succeed(t, 50)
	counter.queued(t, 0)
	equal(t, "dead letters", len(counter.subjects(t, "stint-dead")), len(bad)+many+1)
	s, err := client.Status(bounded(t))
	if err != nil || len(s.DeadLetters) != 100 || len(s.Workers) != 1 {
		t.Errorf("Status: %+v, %v", s, err)
	}
	if n, err := connect(t, where).Purge(bounded(t)); n > 2 || err != nil { // fewer if the worker was faster
		t.Errorf("Purge: got %d, %v, want the result and the mark", n, err)
	}
	eventually(t, "the result and the mark are removed", func() bool {
		return counter.kept(t) == 0 && len(counter.subjects(t, "stint-runs")) == 0
	})
}

// A run is not harmed by malformed messages with its key: of its end, of results, of tasks.
func TestBadMessagesOfARun(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	e, counter := connect(t, where), look(t, where)
	serve(t, connect(t, where), 4, newTask(j))
	c := begin(bounded(t), e, newTask(j), items(8, item{Do: "wait", Gate: "end"}))
	j.seen(t, 4, "begun", is("begin"))
	key := strings.TrimPrefix(counter.subjects(t, "stint-runs")[0], "stint.run.")
	if err := counter.js.Conn().Publish("stint.over."+key, []byte("what is this")); err != nil {
		t.Fatal(err)
	}
	for _, index := range []string{"x", "-1", "8", "99999999999999999999"} {
		counter.publish(t, "stint.result."+key+"."+index, "what is this")
	}
	counter.publish(t, "stint.task.work=v1."+key+".x", "what is this")
	counter.publish(t, "stint.alone."+key+".0.x", "what is this")
	j.open(t, "end")
	c.succeed(t, 8)
	equal(t, "interrupted", count(j.events(t), func(e event) bool { return e.Cause == cluster.ErrCanceled.Error() }), 0)
	eventually(t, "a message that is no task is a dead letter", func() bool { return len(counter.subjects(t, "stint-dead")) == 1 })
	equal(t, "results", counter.kept(t), 0)
}
