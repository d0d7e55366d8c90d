package tests

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// A sieve returns, for a message that a client publishes on a subject, the channel whose
// closing lets it pass; later messages pass before it. With nil it passes at once.
type sieve func(subject, data string) <-chan struct{}

// sift forwards the messages of a client to a server one by one.
func (p *proxy) sift(server, client net.Conn) {
	var mu sync.Mutex
	send := func(op []byte) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = server.Write(op)
	}
	in := bufio.NewReader(client)
	for {
		subject, op, err := operation(in)
		if err != nil {
			server.Close()
			return
		}
		var later <-chan struct{}
		if subject != "" {
			later = p.sieve(subject, string(op))
		}
		if later == nil {
			send(op)
			continue
		}
		p.ended.Go(func() {
			select {
			case <-later:
				send(op)
			case <-p.over:
			}
		})
	}
}

// operation reads one of the protocol of NATS. It has a subject if something is
// published.
func operation(in *bufio.Reader) (subject string, op []byte, err error) {
	op, err = in.ReadBytes('\n')
	words := strings.Fields(string(op))
	if err != nil || len(words) < 3 || words[0] != "PUB" && words[0] != "HPUB" {
		return "", op, err
	}
	size, err := strconv.Atoi(words[len(words)-1])
	if err != nil {
		return "", nil, err
	}
	rest := make([]byte, size+len("\r\n"))
	_, err = io.ReadFull(in, rest)
	return words[1], append(op, rest...), err
}

func makesConsumer(subject string) bool {
	return strings.HasPrefix(subject, "$JS.API.CONSUMER.CREATE.stint-results.")
}

// listening returns how many consumers of results there are.
func (c counter) listening(t *testing.T) int {
	t.Helper()
	return c.streams(t)["stint-results"].State.Consumers
}

// made returns where the server says that it has made a consumer of results.
func (c counter) made(t *testing.T) *nats.Subscription {
	t.Helper()
	sub, err := c.js.Conn().SubscribeSync("$JS.EVENT.ADVISORY.CONSUMER.CREATED.stint-results.*")
	if err == nil {
		err = c.js.Conn().Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

// one waits for the next message.
func one(t *testing.T, sub *nats.Subscription) {
	t.Helper()
	if _, err := sub.NextMsgWithContext(bounded(t)); err != nil {
		t.Fatal(err)
	}
}

// The server may reorder requests. Here it creates the consumer of a cancelled run's
// results only after everything else of the run has been removed.
func TestConsumerIsMadeLate(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	asked, cleared := make(chan struct{}), make(chan struct{})
	p := newProxy(t, where, func(subject, _ string) <-chan struct{} {
		switch {
		case makesConsumer(subject):
			close(asked)
			return cleared
		case subject == "$JS.API.STREAM.PURGE.stint-results":
			close(cleared)
		}
		return nil
	})
	client, gone, counter := connect(t, p.url()), errors.New("gone"), look(t, where)
	made := counter.made(t)
	ctx, cancel := context.WithCancelCause(bounded(t))
	c := begin(ctx, client, newTask(j), items(1, item{}))
	<-asked
	cancel(gone)
	c.fails(t, gone)
	one(t, made)
	equal(t, "consumers of results", counter.listening(t), 0)
}

// A consumer of results is made after the run has asked for another one: both are removed,
// the first during the run.
func TestConsumerIsMadeTwice(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	serve(t, connect(t, where), 1, newTask(j))
	var mu sync.Mutex
	again, n := make(chan struct{}), 0
	p := newProxy(t, where, func(subject, _ string) <-chan struct{} {
		mu.Lock()
		defer mu.Unlock()
		if makesConsumer(subject) {
			switch n++; n {
			case 1:
				return again
			case 2:
				close(again)
			}
		}
		return nil
	})
	client, counter := connect(t, p.url()), look(t, where)
	made := counter.made(t)
	c := begin(bounded(t), client, newTask(j), items(1, item{Do: "wait", Gate: "end"}))
	one(t, made)
	one(t, made)
	eventually(t, "one consumer of results is left", func() bool { return counter.listening(t) == 1 })
	j.open(t, "end")
	c.succeed(t, 1)
	equal(t, "consumers of results", counter.listening(t), 0)
}

// Close returns when the consumers of results are removed, also of runs with a Name, which
// stay.
func TestCloseRemovesConsumers(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	counter := look(t, where)
	for i := range 20 {
		client := connect(t, where)
		c := begin(bounded(t), client, newTask(j), items(1, item{}), cluster.Name(fmt.Sprint("run-", i)))
		eventually(t, "the run listens", func() bool { return counter.listening(t) == 1 })
		client.Close()
		c.fails(t, stint.ErrClosed)
		equal(t, "consumers of results", counter.listening(t), 0)
	}
}

// A run is cancelled while its worker is cut off. After its reconnection the worker stores
// a result before it has checked which runs are over. The result does not stay.
func TestResultBeforeTheLookup(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	var watched atomic.Bool
	var looking, ending sync.Once
	looks, hold, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	p := newProxy(t, where, func(subject, data string) <-chan struct{} {
		switch {
		case watched.Load() && strings.Contains(data, `"stint.run.held"`):
			looking.Do(func() { close(looks) })
			return hold // it goes on asking for this run
		case watched.Load() && strings.HasPrefix(subject, "$JS.ACK.stint-tasks.") && !strings.Contains(data, "+WPI"):
			ending.Do(func() { close(done) })
		}
		return nil
	})
	task, gone := newTask(j, cluster.Lease(patience)), errors.New("gone")
	serve(t, connect(t, p.url(), cluster.NATS(nats.ReconnectWait(20*time.Millisecond))), 2, task)
	client, counter := connect(t, where), look(t, where)
	held := begin(bounded(t), client, task, items(1, item{Do: "wait", Gate: "held"}), cluster.Name("held"))
	j.seen(t, 1, "begun", is("begin"))
	watched.Store(true)
	p.set(true)
	p.set(false)
	<-looks
	watched.Store(false)
	ctx, cancel := context.WithCancelCause(bounded(t))
	c := begin(ctx, client, task, items(1, item{Do: "wait", Gate: "end"}))
	j.seen(t, 2, "begun", is("begin"))
	p.set(true)
	cancel(gone)
	c.fails(t, gone)
	j.open(t, "end")
	j.seen(t, 1, "ended", is("end"))
	watched.Store(true)
	p.set(false)
	<-done
	watched.Store(false)
	close(hold)
	eventually(t, "no result is kept", func() bool { return counter.kept(t) == 0 })
	j.open(t, "held")
	held.succeed(t, 1)
	counter.nothingLeft(t)
}

// A run is cancelled while it sets its limit. Its end waits for the answer, and removes the
// limit.
func TestLimitIsSetLate(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	var once sync.Once
	asked, hold := make(chan struct{}), make(chan struct{})
	p := newProxy(t, where, func(subject, data string) <-chan struct{} {
		if strings.HasPrefix(subject, "$JS.API.CONSUMER.CREATE.stint-tasks.") && strings.Contains(data, `"max_ack_pending":1,`) {
			once.Do(func() { close(asked) })
			return hold
		}
		return nil
	})
	client, gone, counter := connect(t, p.url()), errors.New("gone"), look(t, where)
	ctx, cancel := context.WithCancelCause(bounded(t))
	c := begin(ctx, client, newTask(j), items(1, item{}), cluster.Limit(1))
	<-asked
	cancel(gone)
	select {
	case <-c.done:
	case <-time.After(moment / 3): // a lot less than an answer is waited for
	}
	close(hold)
	c.fails(t, gone)
	for end := time.Now().Add(moment); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if got := counter.consumer(t, "work=v1").CachedInfo().Config.MaxAckPending; got > 0 {
			t.Fatalf("the limit is %d when there is no run", got)
		}
	}
}

// A Resume is cancelled while it takes over a run. The owner then removes the run.
func TestResumeIsCanceledWhileItBegins(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	gone := errors.New("gone")
	var cancelOther atomic.Value
	p := newProxy(t, where, func(subject, _ string) <-chan struct{} {
		if strings.HasPrefix(subject, "stint.run.") {
			cancelOther.Load().(context.CancelCauseFunc)(gone)
		}
		return nil
	})
	client, other, counter := connect(t, where), connect(t, p.url()), look(t, where)
	for i := range 20 {
		name := fmt.Sprint("run-", i)
		ctx, cancel := context.WithCancelCause(bounded(t))
		c := begin(ctx, client, newTask(j), items(1, item{}), cluster.Name(name))
		counter.queued(t, 1)
		ctx, cancelResume := context.WithCancelCause(bounded(t))
		cancelOther.Store(cancelResume)
		for _, err := range cluster.Resume(ctx, other, newTask(j), name) {
			wrong(t, err, gone)
		}
		cancel(gone)
		<-c.done
		if !errors.Is(c.err, cluster.ErrRunLost) { // it has seen the other before
			wrong(t, c.err, gone)
		}
		if left := counter.left(t, 0); left != "" {
			t.Fatalf("left on the server after run %d: %s", i, left)
		}
	}
}
