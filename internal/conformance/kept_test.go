package conformance_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// pulling are the calls that range over a sequence of the caller.
var pulling = map[string]func(seq iter.Seq[int], f body, opts ...stint.Option) error{
	"EachSeq": func(seq iter.Seq[int], f body, opts ...stint.Option) error {
		return stint.EachSeq(context.Background(), seq, f, opts...)
	},
	"MapSeq": func(seq iter.Seq[int], f body, opts ...stint.Option) error {
		return yielded(stint.MapSeq(context.Background(), seq, valued(f), opts...))
	},
	"EachKey": func(seq iter.Seq[int], f body, opts ...stint.Option) error {
		return stint.EachKey(context.Background(), seq, func(int) int { return 0 }, f, opts...)
	},
	"MapKey": func(seq iter.Seq[int], f body, opts ...stint.Option) error {
		return yielded(stint.MapKey(context.Background(), seq, func(int) int { return 0 }, valued(f), opts...))
	},
}

// A sequence may keep its yield function. When it has ended, however it does, a call of that
// function starts no task: it returns false, or panics as that of a range loop.
func TestKeptYieldStartsNothing(t *testing.T) {
	for end, f := range map[string]func(){"returns": func() {}, "panics": func() { panic("boom") }, "exits": runtime.Goexit} {
		for name, call := range pulling {
			t.Run(name+"/"+end, func(t *testing.T) {
				for _, wanted := range []int{2, 9} { // of 4: then a task fails
					synctest.Test(t, func(t *testing.T) {
						var kept func(int) bool
						seq := func(yield func(int) bool) { kept = yield; count(4)(yield); f() }
						keepYield(t, seq, wanted, call, func() bool { return kept(5) })
					})
				}
			})
		}
	}
}

// keepYield makes a call with seq, and then calls late.
func keepYield(t *testing.T, seq iter.Seq[int], wanted int, call func(iter.Seq[int], body, ...stint.Option) error, late func() bool) {
	var tasks gauge
	l := stint.Limit(2)
	done := make(chan struct{})
	go func() { // which a Goexit ends
		defer close(done)
		defer func() { recover() }()
		call(seq, func(_ context.Context, i int) error {
			tasks.Hold(0)
			if i == wanted {
				return errBoom
			}
			return nil
		}, l)
	}()
	<-done
	before := tasks.Total()
	recovered(func() { equal(t, "a late call", late(), false) })
	noneLeft(t)
	equal(t, "tasks of late calls", tasks.Total()-before, 0)
	equal(t, "usage", usage(l), [3]int{2})
}

// A sequence of ours may be ranged over again, after it was left and by several goroutines at
// once. It does not call its yield function again when that has returned false.
func TestSequencesRunAgain(t *testing.T) {
	fails := valued(func(_ context.Context, i int) error { return []error{nil, errBoom}[i%2] })
	for name, seq := range map[string]iter.Seq2[int, error]{
		"MapSeq":    stint.MapSeq(context.Background(), count(6), fails, stint.KeepGoing()),
		"Unordered": stint.MapSeq(context.Background(), count(6), fails, stint.KeepGoing(), stint.Unordered()),
		"MapKey":    stint.MapKey(context.Background(), count(6), itself, fails, stint.KeepGoing()),
		"All":       stream.Map(stream.From(indexes(6)), itself).All(context.Background()),
	} {
		for after := 1; after <= 6; after++ {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var all sync.WaitGroup
					for range 3 {
						all.Go(func() {
							for range 2 {
								calls := 0
								seq(func(int, error) bool { calls++; return calls < after })
								equal(t, "calls", calls, after)
							}
						})
					}
					all.Wait()
					noneLeft(t)
				})
			})
		}
	}
}

// The functions of an ended group, and the context of an ended task, start nothing there.
func TestKeptGroupStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int32
		l := stint.Limit(1)
		g, r := stint.NewGroup(context.Background(), l), stint.NewResults[int](context.Background(), l)
		var kept context.Context
		g.Go(func(ctx context.Context) error { kept = ctx; return nil })
		r.Go(func(context.Context) (int, error) { return 1, nil })
		first := g.Wait()
		values, _ := r.Wait()
		f := func(context.Context) error { ran.Add(1); return nil }
		value := func(context.Context) (int, error) { ran.Add(1); return 2, nil }
		for _, ctx := range []context.Context{context.Background(), kept} {
			equal(t, "Go", g.Go(f) || g.TryGo(f) || r.Go(value) || r.TryGo(value), false)
			equal(t, "GoContext", g.GoContext(ctx, f) != nil && r.GoContext(ctx, value) != nil, true)
		}
		equal(t, "a task with the context of an ended one", errors.Is(stint.EachSeq(kept, count(3), func(ctx context.Context, _ int) error { return f(ctx) }, l), context.Canceled), true)
		again, _ := r.Wait()
		equal(t, "Wait", g.Wait(), first)
		equal(t, "values", len(again)+again[0], len(values)+1)
		noneLeft(t)
		equal(t, "tasks that ran late", ran.Load(), 0)
		equal(t, "usage", usage(l), [3]int{1})
	})
}
