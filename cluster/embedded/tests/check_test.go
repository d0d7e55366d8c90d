package tests

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// equal fails the test if got is not want.
func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// items returns n items like in.
func items(n int, in item) []item {
	out := make([]item, n)
	for i := range out {
		out[i] = in
		out[i].N = i
	}
	return out
}

// right fails the test if outs are not the results of n items, in order.
func right(t *testing.T, outs []outcome, n int) {
	t.Helper()
	equal(t, "number of results", len(outs), n)
	for i, out := range outs {
		if out.N != answer(i) {
			t.Errorf("result %d is %+v, want %d", i, out, answer(i))
		}
	}
}

// A call is a Map on another goroutine.
type call struct {
	done chan struct{}
	outs []outcome
	err  error
}

// begin calls Map on another goroutine.
func begin(ctx context.Context, client *cluster.Client, task *work, in []item, opts ...cluster.Option) *call {
	c := &call{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.outs, c.err = cluster.Map(ctx, client, task, in, opts...)
	}()
	return c
}

// warm waits until all workers run tasks, with that many slots together, and returns how
// many events there are then.
func warm(t *testing.T, client *cluster.Client, j journal, slots int) (events int) {
	t.Helper()
	c := begin(bounded(t), client, newTask(j), items(slots, item{Do: "wait", Gate: "warm"}))
	j.seen(t, slots, "begun", is("begin"))
	j.open(t, "warm")
	c.succeed(t, slots)
	return len(j.events(t))
}

// succeed waits for the end of a call and fails the test if its results are not right.
func (c *call) succeed(t *testing.T, n int) {
	t.Helper()
	<-c.done
	if c.err != nil {
		t.Fatalf("Map: %v", c.err)
	}
	right(t, c.outs, n)
}

// fails waits for the end of a call and fails the test if its error is not want.
func (c *call) fails(t *testing.T, want error) {
	t.Helper()
	<-c.done
	wrong(t, c.err, want)
}

// wrong fails the test if err is not want.
func wrong(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error: got %v, want %v", err, want)
	}
}

// itemErrors returns the errors that are joined in err, by index.
func itemErrors(t *testing.T, err error) map[int]error {
	t.Helper()
	all := map[int]error{}
	if err == nil {
		return all
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("error: got %v, want joined ones", err)
	}
	for _, err := range joined.Unwrap() {
		var one *stint.ItemError
		if !errors.As(err, &one) {
			t.Fatalf("error: got %v, want an ItemError", err)
		}
		all[one.Index] = one.Err
	}
	return all
}

// ahead ranges over a sequence of results on another goroutine, and returns a function that
// returns them one by one.
func ahead(t *testing.T, seq iter.Seq2[outcome, error]) (next func() (outcome, error, bool)) {
	type result struct {
		out outcome
		err error
	}
	results, stop := make(chan result), make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(results)
		for out, err := range seq {
			select {
			case results <- result{out, err}:
			case <-stop:
				return
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-done })
	return func() (outcome, error, bool) {
		r, ok := <-results
		return r.out, r.err, ok
	}
}
