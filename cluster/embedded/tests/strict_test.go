package tests

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/stint-go/stint/cluster"
)

// A trial is a run of a strict client.
type trial struct {
	outs  []int
	calls map[int]int // how often each item was given to the function
	order []int       // in which the items were given to it at first
}

// strict runs n items under a seed, by a function that is not idempotent: its result is the
// number of calls for an item.
func strict(t *testing.T, seed uint64, n int) trial {
	t.Helper()
	where := newServer(t)
	var calls tally
	var mu sync.Mutex
	var order []int
	task := cluster.NewTask("count/v1", func(_ context.Context, i int) (int, error) {
		k := calls.add(i)
		if k == 1 {
			mu.Lock()
			order = append(order, i)
			mu.Unlock()
		}
		return k, nil
	})
	s := serve(t, connect(t, where, cluster.Strict(seed)), 4, task)
	in := make([]int, n)
	for i := range in {
		in[i] = i
	}
	outs, err := cluster.Map(bounded(t), connect(t, where), task, in, cluster.Name("trial"))
	if err != nil {
		t.Fatal(err)
	}
	s.drain(t)
	look(t, where).nothingLeft(t)
	return trial{outs, calls.all(), order}
}

// A strict client shows that a function is not idempotent, and does the same each time
// for one seed.
func TestStrictFindsWhatIsNotIdempotent(t *testing.T) {
	t.Parallel()
	const n = 200
	a, again, b := strict(t, 1, n), strict(t, 1, n), strict(t, 2, n)
	for _, got := range []trial{a, b} {
		equal(t, "number of items that ran", len(got.calls), n)
		found := 0
		for i, out := range got.outs {
			if out > 1 {
				found++
			}
			if out > got.calls[i] {
				t.Errorf("result %d is %d after %d calls", i, out, got.calls[i])
			}
		}
		if found == 0 || found == n {
			t.Errorf("%d of %d results are those of a second call", found, n)
		}
		if slices.IsSorted(got.order) {
			t.Error("all items ran in their order")
		}
	}
	if !maps.Equal(a.calls, again.calls) {
		t.Errorf("seed 1 has run tasks as often as\n%v\nand as\n%v", a.calls, again.calls)
	}
	if maps.Equal(a.calls, b.calls) {
		t.Error("another seed did the same")
	}
}

// A function that is idempotent has the right results on a strict client.
func TestStrictLetsIdempotentPass(t *testing.T) {
	t.Parallel()
	const n = 100
	where, j := newServer(t), newJournal(t)
	serve(t, connect(t, where, cluster.Strict(7)), 4, newTask(j))
	all := items(n, item{})
	all[9].Do, all[10].Do = "fail as known", "panic"
	outs, err := cluster.Map(bounded(t), connect(t, where), newTask(j), all, cluster.KeepGoing())
	errs := itemErrors(t, err)
	equal(t, "number of errors", len(errs), 2)
	wrong(t, errs[9], errKnown)
	panicked(t, errs[10], "boom 10")
	for i, out := range outs {
		if i != 9 && i != 10 && out.N != answer(i) {
			t.Errorf("result %d is %+v", i, out)
		}
	}
	if runs := count(j.events(t), is("begin")); runs <= n {
		t.Errorf("%d runs of %d items", runs, n)
	}
	look(t, where).nothingLeft(t)
}
