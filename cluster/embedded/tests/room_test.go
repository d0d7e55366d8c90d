package tests

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint/cluster"
)

// room is how many bytes the servers of these tests store, in memory.
const room = 2 << 20

// little bounds a server to room.
func little(o *server.Options) { o.JetStreamMaxMemory = room }

// waits returns the options of a client in memory with a FullTimeout, and the errors of a full server
// that Log gets.
func waits(full time.Duration) (opts []cluster.ClientOption, told <-chan error) {
	c := make(chan error, 1000)
	opts = []cluster.ClientOption{cluster.FullTimeout(full), cluster.Memory(), cluster.Log(slog.New(fullLog{c}))}
	if full >= time.Second {
		opts = append(opts, cluster.Heartbeat(full/2))
	}
	return opts, c
}

// A fullLog keeps the errors that say that a server is full.
type fullLog struct{ told chan error }

func (fullLog) Enabled(context.Context, slog.Level) bool { return true }
func (l fullLog) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l fullLog) WithGroup(string) slog.Handler          { return l }

func (l fullLog) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok && errors.Is(err, cluster.ErrFull) {
			l.told <- err
		}
		return true
	})
	return nil
}

// isFull fails the test if err does not say that the server is full, and what it says
// itself, or if Log was not told before.
func isFull(t *testing.T, err error, told <-chan error, text string) {
	t.Helper()
	wrong(t, err, cluster.ErrFull)
	if err != nil && !strings.Contains(err.Error(), text) {
		t.Errorf("error %q: want %q in it", err, text)
	}
	if len(told) == 0 {
		t.Error("Log was not told")
	}
}

// fill fills the server with other messages. It returns a function that removes them.
func (c counter) fill(t *testing.T) (empty func()) {
	t.Helper()
	s, err := c.js.CreateStream(bounded(t), jetstream.StreamConfig{Name: "other", Subjects: []string{"other"}, Storage: jetstream.MemoryStorage})
	for err == nil {
		_, err = c.js.Publish(bounded(t), "other", make([]byte, 1<<18))
	}
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		t.Fatal(err)
	}
	return func() {
		if err := s.Purge(bounded(t)); err != nil {
			t.Error(err)
		}
	}
}

// A run has more items, or more results that are kept, than the server has room for: it ends with
// ErrFull and leaves nothing.
func TestRunIsLargerThanTheServer(t *testing.T) {
	t.Parallel()
	const n, size = 40, 1 << 17
	for name, in := range map[string]item{
		"items":   {Do: "wait", Gate: "never", Text: strings.Repeat("x", size)},
		"results": {Do: "big", Size: size},
	} {
		for _, limited := range []string{"server", "account"} {
			t.Run(name+" of the "+limited, func(t *testing.T) {
				t.Parallel()
				where, text := newServer(t, little), "insufficient resources"
				if limited == "account" {
					where, text = newServer(t, account(t, fmt.Sprint("max_memory: ", room))), "resource limits exceeded for account"
				}
				j := newJournal(t)
				opts, told := waits(2 * time.Second)
				serve(t, connect(t, where, opts...), 2, newTask(j))
				client := connect(t, where, opts...)
				c := begin(bounded(t), client, newTask(j), items(n, in), cluster.Name("large"))
				<-c.done
				isFull(t, c.err, told, text)
				look(t, where).nothingLeft(t)
				begin(bounded(t), client, newTask(j), items(3, item{}), cluster.Name("large")).succeed(t, 3)
			})
		}
	}
}

// Results of a run without a Name are removed when they have arrived: there may be
// more of them than the server has room for.
func TestResultsAreLargerThanTheServer(t *testing.T) {
	t.Parallel()
	const n, size = 80, 1 << 17
	where, j := newServer(t, little), newJournal(t)
	opts, _ := waits(patience)
	serve(t, connect(t, where, opts...), 2, newTask(j))
	begin(bounded(t), connect(t, where, opts...), newTask(j), items(n, item{Do: "big", Size: size})).succeed(t, n)
	look(t, where).nothingLeft(t)
}

// A server is full of other messages. A run that starts there waits, and logs that at once.
// If there is room in time it continues, otherwise it ends.
func TestServerIsFull(t *testing.T) {
	t.Parallel()
	where, j := newServer(t, little), newJournal(t)
	opts, told := waits(time.Second)
	client := connect(t, where, opts...)
	empty := look(t, where).fill(t)
	_, err := cluster.Map(bounded(t), client, newTask(j), items(3, item{}))
	isFull(t, err, told, "insufficient resources")

	opts, told = waits(patience)
	other := connect(t, where, opts...)
	serve(t, other, 2, newTask(j))
	c := begin(bounded(t), other, newTask(j), items(3, item{}))
	select {
	case <-told:
	case <-c.done:
	}
	empty()
	c.succeed(t, 3)
	look(t, where).nothingLeft(t)
}

// An account may have no more streams.
func TestNoMoreStreams(t *testing.T) {
	t.Parallel()
	opts, told := waits(time.Second)
	_, err := cluster.Connect(bounded(t), newServer(t, account(t, "max_streams: 3")), opts...)
	isFull(t, err, told, "maximum number of streams")
}

// A stream may have no more consumers. The run that has a consumer continues.
func TestNoMoreConsumers(t *testing.T) {
	t.Parallel()
	where, j := newServer(t, account(t, "max_consumers: 1")), newJournal(t)
	opts, told := waits(time.Second)
	client, counter := connect(t, where, opts...), look(t, where)
	serve(t, connect(t, where, opts...), 2, newTask(j))
	c := begin(bounded(t), client, newTask(j), items(1, item{Do: "wait", Gate: "end"}))
	eventually(t, "the run listens", func() bool { return counter.listening(t) == 1 })
	_, err := cluster.Map(bounded(t), client, newTask(j), items(1, item{}))
	isFull(t, err, told, "maximum consumers limit")
	j.open(t, "end")
	c.succeed(t, 1)
	counter.nothingLeft(t)
}

// account makes clients of a server belong to an account that has a limit.
func account(t *testing.T, limit string, more ...func(*server.Options)) func(*server.Options) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "conf")
	text := fmt.Sprintf("accounts { A { jetstream { %s }, users: [ { user: a, password: a } ] } }\nno_auth_user: a\n", limit)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(o *server.Options) {
		dir := o.StoreDir
		if err := o.ProcessConfigFile(path); err != nil {
			t.Fatal(err)
		}
		o.StoreDir = dir
		for _, f := range more {
			f(o)
		}
	}
}

// A message that is to become a dead letter stays where it is until there is room.
func TestNoDeadLetterWithoutStream(t *testing.T) {
	t.Parallel()
	where, j := newServer(t, little), newJournal(t)
	opts, _ := waits(100 * time.Millisecond)
	opts = append(opts, cluster.Heartbeat(time.Minute)) // it does not purge during the test
	client, counter := connect(t, where, opts...), look(t, where)
	counter.publish(t, "stint.task.work=v1.run.x", "precious")
	counter.publish(t, "stint.run.x", "precious")
	task := newTask(j, cluster.Lease(500*time.Millisecond))
	empty := counter.fill(t)
	serve(t, client, 1, task)
	eventually(t, "the message comes again", func() bool { return counter.tasks(t).State.Msgs == 0 || counter.deliveries(t) > 1 })
	if _, err := client.Status(bounded(t)); err != nil {
		t.Error(err)
	}
	empty()
	eventually(t, "both are dead letters", func() bool {
		s, err := client.Status(bounded(t))
		return err == nil && len(s.DeadLetters) == 2
	})
	counter.queued(t, 0)
}

// deliveries returns how many messages the only consumer of tasks was sent, if it is there.
func (c counter) deliveries(t *testing.T) uint64 {
	t.Helper()
	s, err := c.js.Stream(bounded(t), "stint-tasks")
	if err != nil {
		t.Fatal(err)
	}
	for info := range s.ListConsumers(bounded(t)).Info() {
		return info.Delivered.Consumer
	}
	return 0
}
