package tests

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// first yields the items, and then waits until its context ends, whose cause it keeps.
func first(all []item, cause *error) func(context.Context) iter.Seq2[item, error] {
	return func(ctx context.Context) iter.Seq2[item, error] {
		return func(yield func(item, error) bool) {
			for _, in := range all {
				if !yield(in, nil) {
					break
				}
			}
			<-ctx.Done()
			*cause = context.Cause(ctx)
		}
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
			seq, from := cluster.From(first(all, &cause))
			n := 0
			for _, err := range cluster.MapSeq(ctx, connect(t, where), newTask(j), seq, from) {
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
	fails := func(in ...item) (iter.Seq[item], cluster.Option) {
		return cluster.From(func(context.Context) iter.Seq2[item, error] {
			return func(yield func(item, error) bool) {
				for _, v := range in {
					if !yield(v, nil) {
						return
					}
				}
				yield(item{N: -1}, broken)
			}
		})
	}
	var last error
	seq, from := fails(item{Do: "wait", Gate: "never"}, item{Do: "wait", Gate: "never"})
	for out, err := range cluster.MapSeq(bounded(t), c, newTask(j), seq, from) {
		if err == nil || last != nil {
			t.Errorf("got %+v, %v after %v", out, err, last)
		}
		last = err
	}
	wrong(t, last, broken)

	seq, from = fails(items(20, item{})...)
	for range 2 { // it can be used again
		var outs []int
		last = nil
		for out, err := range cluster.MapSeq(bounded(t), c, newTask(j), seq, from, cluster.KeepGoing()) {
			if last != nil {
				t.Errorf("after the error: %+v, %v", out, err)
			}
			if last = err; err == nil {
				outs = append(outs, out.N)
			}
		}
		equal(t, "results", len(outs), 20)
		wrong(t, last, broken)
	}
	look(t, where).nothingLeft(t)
}

// From panics, or the range does, if its results are not used together.
func TestMisuseOfFrom(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	serve(t, connect(t, where), 1, newTask(j))
	c := connect(t, where)
	source := func(context.Context) iter.Seq2[item, error] { return func(func(item, error) bool) {} }
	seq, _ := cluster.From(source)
	_, from := cluster.From(source)
	recovered := func(f func()) (value any) {
		defer func() { value = recover() }()
		f()
		return nil
	}
	rangeOver := func(seq iter.Seq[item], opts ...cluster.Option) func() {
		return func() {
			for range cluster.MapSeq(bounded(t), c, newTask(j), seq, opts...) {
			}
		}
	}
	for _, test := range []struct {
		want string
		do   func()
	}{
		{"cluster: From: nil function", func() { cluster.From[item](nil) }},
		{"cluster: From: the sequence was ranged over without its Option", rangeOver(seq)},
		{"cluster: From: the Option was given without its sequence", rangeOver(slices.Values(items(3, item{})), from)},
		{"cluster: From: the Option was given without its sequence", rangeOver(slices.Values(items(0, item{})), from)},
		{"cluster: Map: From does not apply", func() { _, _ = cluster.Map(bounded(t), c, newTask(j), nil, from) }},
	} {
		got := recovered(test.do)
		if p, ok := got.(*stint.PanicError); ok {
			got = p.Value
		}
		if got != test.want {
			t.Errorf("got %v, want %s", got, test.want)
		}
	}
	both, from := cluster.From(first(items(1, item{}), new(error)))
	for range cluster.MapSeq(bounded(t), c, newTask(j), both, from) {
		p, _ := recovered(rangeOver(both, from)).(*stint.PanicError)
		if p == nil || p.Value != "cluster: From: the sequence is in use by another call" {
			t.Errorf("got %v", p)
		}
		break
	}
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
		seq, from := cluster.From(func(ctx context.Context) iter.Seq2[item, error] {
			got, want = cluster.TaskInfo(ctx), counter.onlyRun(t, client)
			return func(yield func(item, error) bool) { yield(item{}, nil) }
		})
		for _, err := range cluster.MapSeq(bounded(t), client, newTask(j), seq, append(opts, from)...) {
			if err != nil {
				t.Error(err)
			}
		}
		equal(t, "what the source is told", got, cluster.Info{Run: want})
	}
}
