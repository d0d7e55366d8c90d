package tests

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stint-go/stint/cluster"
)

// A source of items, as MapFrom takes it.
type source = func(ctx context.Context, emit func(item) bool) error

// first emits the items, and then waits until its context ends, whose cause it keeps.
func first(all []item, cause *error) source {
	return func(ctx context.Context, emit func(item) bool) error {
		slices.Values(all)(emit)
		<-ctx.Done()
		*cause = context.Cause(ctx)
		return *cause
	}
}

// A source that waits for more items does not hold up the end of a run, for whatever reason it
// ends.
func TestSourceEndsWithItsRun(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	for name, test := range map[string]struct {
		in   item // the last of three
		want error
		do   func(t *testing.T, cancel context.CancelCauseFunc, elsewhere func()) (leave bool) // after two results
	}{
		"context":             {want: gone, do: func(_ *testing.T, cancel context.CancelCauseFunc, _ func()) bool { cancel(gone); return false }},
		"error":               {in: item{Do: "fail as known"}, want: errKnown, do: func(*testing.T, context.CancelCauseFunc, func()) bool { return false }},
		"cancelled elsewhere": {want: cluster.ErrRunLost, do: func(_ *testing.T, _ context.CancelCauseFunc, elsewhere func()) bool { elsewhere(); return false }},
		"break":               {do: func(*testing.T, context.CancelCauseFunc, func()) bool { return true }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where, j := newServer(t), newJournal(t)
			serve(t, connect(t, where), 4, newTask(j))
			counter, other := look(t, where), connect(t, where)
			ctx, cancel := context.WithCancelCause(bounded(t))
			defer cancel(nil)
			elsewhere := func() {
				if err := other.Cancel(bounded(t), counter.onlyRun(t, other)); err != nil {
					t.Error(err)
				}
			}
			all := items(3, item{})
			all[2].Do = test.in.Do
			var cause, last error
			n := 0
			for _, err := range cluster.MapFrom(ctx, connect(t, where), newTask(j), first(all, &cause)) {
				if last = err; err != nil {
					continue
				}
				if n++; n == 2 && test.do(t, cancel, elsewhere) {
					break
				}
			}
			if cause == nil {
				t.Error("the context of the source has not ended")
			}
			if test.want != nil {
				wrong(t, last, test.want)
			}
			counter.nothingLeft(t)
		})
	}
}

// The error of a source ends the run, or is yielded last under KeepGoing.
func TestErrorOfASource(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	serve(t, connect(t, where), 4, newTask(j))
	c, broken := connect(t, where), errors.New("the source is broken")
	fails := func(in ...item) source {
		return func(_ context.Context, emit func(item) bool) error {
			slices.Values(in)(emit)
			return broken
		}
	}
	var last error
	stuck := item{Do: "wait", Gate: "never"}
	for out, err := range cluster.MapFrom(bounded(t), c, newTask(j), fails(stuck, stuck)) {
		if err == nil || last != nil {
			t.Errorf("got %+v, %v after %v", out, err, last)
		}
		last = err
	}
	wrong(t, last, broken)

	var outs []int
	last = nil
	for out, err := range cluster.MapFrom(bounded(t), c, newTask(j), fails(items(20, item{})...), cluster.KeepGoing()) {
		if last != nil {
			t.Errorf("after the error: %+v, %v", out, err)
		}
		if last = err; err == nil {
			outs = append(outs, out.N)
		}
	}
	equal(t, "results", len(outs), 20)
	wrong(t, last, broken)
	look(t, where).nothingLeft(t)
}

// A source is told the name of its run: a generated one, or that of Name.
func TestSourceKnowsItsRun(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	client, counter := connect(t, where), look(t, where)
	serve(t, connect(t, where), 1, newTask(j))
	for _, opts := range [][]cluster.Option{nil, {cluster.Name("nightly/1")}} {
		got, want := cluster.Info{}, ""
		one := func(ctx context.Context, emit func(item) bool) error {
			got, want = cluster.TaskInfo(ctx), counter.onlyRun(t, client)
			emit(item{})
			return nil
		}
		for _, err := range cluster.MapFrom(bounded(t), client, newTask(j), one, opts...) {
			if err != nil {
				t.Error(err)
			}
		}
		equal(t, "what the source is told", got, cluster.Info{Run: want})
	}
}
