package tests

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// hangs is the Timeout of all tasks: some hang until it ends, and it is long enough for the
// others.
const hangs = 500 * time.Millisecond

// If a function returns when its context has ended by Timeout, its error or result counts,
// and an error is retried.
func TestTimeout(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	task := newTask(j, cluster.Timeout(hangs), cluster.Retry(1, time.Millisecond))
	serve(t, connect(t, where), 2, task)
	all := []item{{N: 0, Do: "wait", Gate: "never"}, {N: 1}, {N: 2, Do: "go on at first"}, {N: 3, Do: "wait at first"}}
	outs, err := cluster.Map(bounded(t), connect(t, where), task, all, cluster.KeepGoing())
	errs := itemErrors(t, err)
	equal(t, "number of errors", len(errs), 1)
	wrong(t, errs[0], context.DeadlineExceeded)
	for i, calls := range []int{2, 1, 1, 2} {
		equal(t, "calls", count(j.events(t), of("begin", i)), calls)
		if i > 0 {
			equal(t, "result", outs[i].N, answer(i))
			equal(t, "the call that counts", outs[i].Attempt, calls)
		}
	}
	equal(t, "cause", only(j.events(t), of("end", 0))[0].Cause, context.DeadlineExceeded.Error())
	look(t, where).nothingLeft(t)
}

// A function that ignores the end of its context loses its slot. It is not called again,
// and neither the worker nor the client waits for it.
func TestFunctionHangs(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	task := newTask(j, cluster.Timeout(hangs), cluster.Retry(3, time.Millisecond))
	c := connect(t, where)
	worker := serve(t, c, 1, task)
	all := items(4, item{})
	all[1], all[2] = item{N: 1, Do: "ignore at first", Gate: "end"}, item{N: 2, Do: "ignore at first", Gate: "end"}
	outs, err := cluster.Map(bounded(t), connect(t, where), task, all, cluster.KeepGoing())
	errs := itemErrors(t, err)
	equal(t, "number of errors", len(errs), 2)
	wrong(t, errs[1], context.DeadlineExceeded)
	wrong(t, errs[2], context.DeadlineExceeded)
	equal(t, "result 3", outs[3].N, answer(3))
	equal(t, "calls", count(j.events(t), is("begin")), 4)
	look(t, where).nothingLeft(t)
	equal(t, "abandoned", abandoned(t, c), 2)
	j.open(t, "end")
	eventually(t, "they have returned", func() bool { return abandoned(t, c) == 0 })

	late := begin(bounded(t), connect(t, where), task, []item{{Do: "ignore at first", Gate: "late"}})
	late.fails(t, context.DeadlineExceeded)
	if err := worker.drain(t); err != nil {
		t.Errorf("Serve: %v", err)
	}
	c.Close()
	equal(t, "ended by then", count(j.events(t), is("end")), 4)
	j.open(t, "late") // or it writes into the directory of a test that is over
	j.seen(t, 5, "ended", is("end"))
}

// abandoned returns the number of abandoned calls of the only worker.
func abandoned(t *testing.T, c *cluster.Client) int {
	t.Helper()
	ctx := bounded(t)
	for {
		s, err := c.Status(ctx)
		switch {
		case err != nil || len(s.Workers) > 1:
			t.Fatalf("Status: %+v, %v, want one worker", s, err)
		case len(s.Workers) == 1: // none, if the machine is too busy to answer within half a second
			return int(s.Workers[0].Abandoned)
		}
	}
}

// An abandoned call may panic, exit, or start work with its context, without effect on
// others.
func TestAbandonedCall(t *testing.T) {
	t.Parallel()
	where := newServer(t)
	var text lines
	end := make(chan struct{})
	task := cluster.NewTask("hang/v1", func(ctx context.Context, what string) (int, error) {
		if what == "nothing" {
			return 0, nil
		}
		<-end
		switch what {
		case "panic":
			panic("boom at last")
		case "goexit":
			runtime.Goexit()
		}
		err := stint.Each(ctx, []int{1, 2, 3}, func(context.Context, int) error { return errors.New("began") })
		return 0, err
	}, cluster.Timeout(10*time.Millisecond))
	c := connect(t, where, cluster.Log(slog.New(slog.NewTextHandler(&text, nil))))
	serve(t, c, 1, task)
	_, err := cluster.Map(bounded(t), c, task, []string{"panic", "goexit", "nest", "nothing"}, cluster.KeepGoing())
	equal(t, "number of errors", len(itemErrors(t, err)), 3)
	equal(t, "abandoned", abandoned(t, c), 3)
	close(end)
	eventually(t, "they have ended", func() bool { return abandoned(t, c) == 0 })
	eventually(t, "the log tells of the panic", func() bool { return strings.Contains(text.String(), "boom at last") })
	if strings.Contains(text.String(), "began") {
		t.Error("a call that was left behind has begun tasks of its own")
	}
	if _, err := cluster.Map(bounded(t), c, task, slices.Repeat([]string{"nothing"}, 20)); err != nil {
		t.Error(err)
	}
	look(t, where).nothingLeft(t)
}

// A quarantined task that hangs does not stop its worker permanently.
func TestQuarantineHangs(t *testing.T) {
	t.Parallel()
	where, end := newServer(t), make(chan struct{})
	defer close(end)
	task := cluster.NewTask("work/v1", func(_ context.Context, in item) (outcome, error) {
		if in.Do == "hang" {
			<-end
		}
		return outcome{N: answer(in.N)}, nil
	}, cluster.Timeout(hangs))
	client, counter := connect(t, where), look(t, where)
	quarantined := begin(bounded(t), client, task, items(1, item{Do: "hang"}))
	counter.queued(t, 1)
	counter.lose(t, 1, 2)
	worker := connect(t, where)
	serve(t, worker, 4, task)
	quarantined.fails(t, context.DeadlineExceeded)
	begin(bounded(t), client, task, items(10, item{})).succeed(t, 10)
	equal(t, "abandoned", abandoned(t, worker), 1)
	counter.nothingLeft(t)
}

// A worker whose client is closed does not wait for a function that has a Timeout.
func TestTimeoutEndsWithClose(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	task := newTask(j, cluster.Timeout(time.Hour))
	client := connect(t, where)
	client.Handle(task)
	served := make(chan error, 1)
	go func() { served <- cluster.Serve(context.Background(), client, cluster.Limit(1)) }()
	ctx, stop := context.WithCancel(context.Background())
	c := begin(ctx, connect(t, where), task, []item{{Do: "ignore at first", Gate: "end"}})
	j.seen(t, 1, "begun", is("begin"))
	client.Close()
	select {
	case err := <-served:
		wrong(t, err, stint.ErrClosed)
	case <-time.After(patience):
		t.Error("Serve does not return")
	}
	stop()
	c.fails(t, context.Canceled)
	j.open(t, "end")
	j.seen(t, 1, "ended", is("end"))
}
