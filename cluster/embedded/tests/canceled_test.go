package tests

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stint-go/stint/cluster"
)

// onlyRun returns the name of the only run that there is.
func (c counter) onlyRun(t *testing.T, client *cluster.Client) string {
	t.Helper()
	status, err := client.Status(bounded(t))
	if err != nil || len(status.Runs) != 1 {
		t.Fatalf("status: got %+v, %v, want one run", status, err)
	}
	return status.Runs[0].Run
}

// A run that another client cancels ends at once, for its submitter and its functions, and its
// limit is lifted.
func TestCancelOfALiveRun(t *testing.T) {
	t.Parallel()
	const n, slots = 100, 4
	for _, name := range []string{"", "night/ly.1"} {
		t.Run("run "+name, func(t *testing.T) {
			t.Parallel()
			where, j := newServer(t), newJournal(t)
			counter, other := look(t, where), connect(t, where)
			serve(t, connect(t, where), 2*slots, newTask(j))
			opts := []cluster.Option{cluster.Limit(slots), cluster.Queue(n), cluster.KeepGoing()}
			if name != "" {
				opts = append(opts, cluster.Name(name))
			}
			c := begin(bounded(t), connect(t, where), newTask(j), items(n, item{Do: "wait", Gate: "never"}), opts...)
			j.seen(t, slots, "begun", is("begin"))
			run := counter.onlyRun(t, other)
			if name != "" {
				equal(t, "name", run, name)
			}
			if err := other.Cancel(bounded(t), run); err != nil {
				t.Errorf("Cancel: %v", err)
			}
			wrong(t, other.Cancel(bounded(t), run), cluster.ErrRunLost)
			c.fails(t, cluster.ErrRunLost)
			if !strings.Contains(c.err.Error(), run+" was cancelled elsewhere") {
				t.Errorf("error: got %v, want that %s was cancelled elsewhere", c.err, run)
			}
			counter.nothingLeft(t)
			ended(t, j)
			equal(t, "limit of the task", counter.consumer(t, "work=v1").CachedInfo().Config.MaxAckPending, -1)
			begin(bounded(t), connect(t, where), newTask(j), items(2*slots, item{}), opts...).succeed(t, 2*slots)
			counter.nothingLeft(t)
		})
	}
}

// Tasks of a submitter that learns late of the end of its run are removed too, also when another
// run has the name.
func TestCancelWhileItIsSubmitted(t *testing.T) {
	t.Parallel()
	const rounds, n = 12, 1000
	where, j := newServer(t), newJournal(t)
	other, counter := connect(t, where), look(t, where)
	clients := []*cluster.Client{connect(t, where), connect(t, where)}
	var calls []*call
	for i := range rounds {
		calls = append(calls, begin(bounded(t), clients[i%2], newTask(j), items(n, item{}), cluster.Name("nightly"), cluster.Queue(n)))
		eventually(t, "it is there", func() bool { return other.Cancel(bounded(t), "nightly") == nil })
	}
	// A submitter whose record was not confirmed writes it once more, to remove it. Cancel
	// must not take this record for that of the next run.
	for _, c := range calls {
		eventually(t, "it is over", func() bool {
			select {
			case <-c.done:
				return true
			default:
				_ = other.Cancel(bounded(t), "nightly")
				return false
			}
		})
		if !errors.Is(c.err, cluster.ErrRunExists) {
			wrong(t, c.err, cluster.ErrRunLost)
		}
	}
	counter.nothingLeft(t)
}

// A run whose submitter died is cancelled like any other.
func TestCancelOfADeadRun(t *testing.T) {
	t.Parallel()
	const n = 20
	where, j := newServer(t), newJournal(t)
	p := part{Role: "submitter", URL: where, Journal: j.Path, Run: "nightly", Items: items(n, item{}), Stall: true}
	first := start(t, p)
	j.seen(t, 1, "stalled", is("stalled"))
	client, counter := connect(t, where), look(t, where)
	counter.queued(t, n)
	first.kill()
	if err := client.Cancel(bounded(t), "nightly"); err != nil {
		t.Errorf("Cancel: %v", err)
	}
	counter.leftBy(t, 1)
	wrong(t, client.Cancel(bounded(t), "nightly"), cluster.ErrRunLost)
	_, errs := resumed(t, client, newTask(j), "nightly")
	wrong(t, errs[0], cluster.ErrRunLost)
}

// A run that is cancelled while it ends or is resumed has one outcome, and leaves nothing.
func TestCancelAtTheSameMoment(t *testing.T) {
	t.Parallel()
	const rounds, n = 60, 4
	where, j := newServer(t), newJournal(t)
	client, other, counter := connect(t, where), connect(t, where), look(t, where)
	serve(t, connect(t, where), n, newTask(j))
	both := map[bool]int{}
	for i := range rounds {
		name, before := fmt.Sprint("run-", i), count(j.events(t), is("end"))
		c := begin(bounded(t), client, newTask(j), items(n, item{}), cluster.Name(name))
		j.seen(t, before+i%n, "ended", is("end"))
		err := other.Cancel(bounded(t), name)
		<-c.done
		if err != nil {
			wrong(t, err, cluster.ErrRunLost)
		}
		if c.err != nil {
			wrong(t, c.err, cluster.ErrRunLost)
		} else {
			right(t, c.outs, n)
		}
		if c.err != nil && err != nil {
			t.Errorf("round %d: neither has ended it: %v, %v", i, c.err, err)
		}
		both[err == nil]++
	}
	t.Logf("cancelled: %d of %d", both[true], rounds)
	counter.nothingLeft(t)
}

// When Resume and Cancel are concurrent, the later one finds no run, or ends the run that
// the other has resumed.
func TestCancelAndResume(t *testing.T) {
	t.Parallel()
	const rounds, n = 20, 4
	where, j := newServer(t), newJournal(t)
	other, counter := connect(t, where), look(t, where)
	serve(t, connect(t, where), n, newTask(j))
	for i := range rounds {
		name, before := fmt.Sprint("run-", i), count(j.events(t), is("begin"))
		first := connect(t, where)
		all := items(n, item{})
		all[n-1].Do, all[n-1].Gate = "wait", name // the run does not end before its submitter is gone
		c := begin(bounded(t), first, newTask(j), all, cluster.Name(name), cluster.Queue(n))
		j.seen(t, 1+before, "begun", is("begin"))
		first.Close() // and it stays
		<-c.done
		j.open(t, name)
		canceled := make(chan error, 1)
		go func() { canceled <- other.Cancel(bounded(t), name) }()
		var outs []outcome
		var failed error
		for out, err := range cluster.Resume(bounded(t), connect(t, where), newTask(j), name) {
			if err == nil {
				outs = append(outs, out)
			}
			failed = err
		}
		err := <-canceled
		switch {
		case failed == nil:
			right(t, outs, n)
		case err != nil && !errors.Is(failed, cluster.ErrIncomplete):
			t.Errorf("round %d: neither has ended it: %v, %v", i, failed, err)
		}
	}
	counter.nothingLeft(t)
}
