package tests

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// The results of a run without a Name are removed during the run; all results of a run with
// a Name are kept until it ends.
func TestResultsOfALongRun(t *testing.T) {
	t.Parallel()
	const window = 32
	plain := cluster.NewTask("plain/v1", func(ctx context.Context, n int) (int, error) { return n, nil })
	for name, c := range map[string]struct {
		n, least, most int
		opts           []cluster.Option
	}{
		"without": {5000, 0, window + 2*1024, nil},
		"with":    {3_000, 3_000, 3_000, []cluster.Option{cluster.Name("kept")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := newServer(t)
			client := connect(t, where, cluster.Memory())
			serve(t, connect(t, where), 16, plain)
			counter, got, top := look(t, where), 0, 0
			for v, err := range cluster.MapSeq(bounded(t), client, plain, upTo(c.n), append(c.opts, cluster.Queue(window))...) {
				if err != nil || v != got {
					t.Fatalf("result %d: %d, %v", got, v, err)
				}
				if got++; got%100 == 0 {
					top = max(top, counter.kept(t))
				}
			}
			equal(t, "number of results", got, c.n)
			if top < c.least || top > c.most {
				t.Errorf("the server had %d results at once, want %d to %d", top, c.least, c.most)
			}
			counter.nothingLeft(t)
		})
	}
}

// upTo yields the numbers below n.
func upTo(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}

// Of two results of one task the first counts, also on the server: Resume yields it.
func TestResumeYieldsTheFirst(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	serve(t, connect(t, where), 2, newTask(j))
	both := []item{{}, {N: 1, Do: "wait", Gate: "end"}}
	first := connect(t, where)
	c := begin(bounded(t), first, newTask(j), both, cluster.Name("twice"))
	counter := look(t, where)
	eventually(t, "one result is there", func() bool { return counter.kept(t) == 1 })
	results, err := counter.js.Stream(bounded(t), "stint-results")
	if err != nil {
		t.Fatal(err)
	}
	one, err := results.GetMsg(bounded(t), results.CachedInfo().State.LastSeq)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := counter.js.Publish(bounded(t), one.Subject, []byte(`{"N":-1}`)); !refusal(err) {
		t.Errorf("a second result: got %v, want that the server refuses it", err)
	}
	again, err := results.GetLastMsgForSubject(bounded(t), one.Subject)
	if err != nil || string(again.Data) != string(one.Data) {
		t.Errorf("after the second: %v, %v, want %s", again, err, one.Data)
	}
	first.Close()
	c.fails(t, stint.ErrClosed)
	j.open(t, "end")
	outs, errs := resumed(t, connect(t, where), newTask(j), "twice")
	if len(errs) > 0 && !errors.Is(errs[2], cluster.ErrIncomplete) { // it may have been closed before it had said that there are no more
		t.Errorf("errors: %v", errs)
	}
	right(t, outs[:2], 2)
	counter.nothingLeft(t)
}

// refusal reports whether err comes from the server, and not from the connection.
func refusal(err error) bool {
	_, ok := errors.AsType[*jetstream.APIError](err)
	return ok
}

// resumed resumes a run, and returns its results, and its errors by their positions.
func resumed(t *testing.T, c *cluster.Client, task *work, run string) (outs []outcome, errs map[int]error) {
	t.Helper()
	errs = map[int]error{}
	for out, err := range cluster.Resume(bounded(t), c, task, run) {
		if err != nil {
			errs[len(outs)] = err
		}
		outs = append(outs, out)
	}
	return outs, errs
}

// Resume yields items that could not be sent.
func TestResumeOfUnsent(t *testing.T) {
	t.Parallel()
	where, j := newServer(t, func(o *server.Options) { o.MaxPayload = payload }), newJournal(t)
	task := newTask(j, cluster.Codec(func(v any) ([]byte, error) {
		if in, ok := v.(item); ok && in.N == 2 {
			return nil, errKnown
		}
		return json.Marshal(v)
	}, json.Unmarshal))
	first, counter := connect(t, where), look(t, where)
	all := items(6, item{})
	all[4].Text = strings.Repeat("x", 2*payload)
	c := begin(bounded(t), first, task, all, cluster.Name("unsent"), cluster.KeepGoing())
	counter.queued(t, 4)
	eventually(t, "two results are there", func() bool { return counter.kept(t) == 2 })
	first.Close()
	<-c.done
	wrong(t, c.err, stint.ErrClosed)

	client := connect(t, where)
	serve(t, client, 2, task)
	outs, errs := resumed(t, client, task, "unsent")
	if len(outs) < 6 {
		t.Fatalf("got %d results, %v, want 6", len(outs), errs)
	}
	for i, out := range outs[:6] {
		switch i {
		case 2:
			wrong(t, errs[i], errKnown)
		case 4:
			tooLarge(t, errs[i])
		default:
			if errs[i] != nil || out.N != answer(i) {
				t.Errorf("result %d: %+v, %v", i, out, errs[i])
			}
		}
	}
	counter.nothingLeft(t)
}

// A Resume that cannot start leaves the run for the next.
func TestResumeThatFails(t *testing.T) {
	t.Parallel()
	const n = 4
	where, j := newServer(t), newJournal(t)
	task := newTask(j)
	first := serve(t, connect(t, where), 2, task)
	submitter, client, counter := connect(t, where), connect(t, where), look(t, where)
	next := ahead(t, cluster.MapSeq(bounded(t), submitter, task, slices.Values(items(n, item{})), cluster.Name("twice")))
	eventually(t, "all results are there", func() bool { return counter.kept(t) == n })
	counter.queued(t, 0)
	submitter.Close()
	for ok := true; ok; {
		_, _, ok = next()
	}
	if err := first.drain(t); err != nil {
		t.Fatal(err)
	}
	if err := counter.js.DeleteConsumer(bounded(t), "stint-tasks", "work=v1"); err != nil {
		t.Fatal(err)
	}
	if _, errs := resumed(t, client, task, "twice"); len(errs) != 1 || errors.Is(errs[0], cluster.ErrRunLost) {
		t.Fatalf("got %v, want that it cannot begin", errs)
	}
	serve(t, connect(t, where), 2, task)
	counter.workers(t)
	outs, errs := resumed(t, client, task, "twice")
	for _, err := range errs {
		wrong(t, err, cluster.ErrIncomplete)
	}
	right(t, outs[:min(n, len(outs))], n)
	equal(t, "runs", count(j.events(t), is("begin")), n)
	counter.nothingLeft(t)
}
