package tests

import (
	"errors"
	"iter"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// pulled yields all, or endless items if all is empty, and counts them.
func pulled(n *atomic.Int64, all []item) iter.Seq[item] {
	return func(yield func(item) bool) {
		for i := 0; all == nil || i < len(all); i++ {
			in := item{N: i}
			if all != nil {
				in = all[i]
			}
			n.Add(1)
			if !yield(in) {
				return
			}
		}
	}
}

// A sequence is pulled ahead of its consumer as far as Queue says, and no further.
func TestRunAheadIsBounded(t *testing.T) {
	t.Parallel()
	const n, window = 200, 10
	where, j := newServer(t), newJournal(t)
	serve(t, connect(t, where), 4, newTask(j))
	var taken atomic.Int64
	consumed := 0
	for out, err := range cluster.MapSeq(bounded(t), connect(t, where), newTask(j), pulled(&taken, items(n, item{})), cluster.Queue(window)) {
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "result", out.N, answer(consumed))
		consumed++
		if consumed == n/2 {
			eventually(t, "the window is used", func() bool { return taken.Load() >= int64(consumed+window-1) })
		}
		if got := taken.Load(); got > int64(consumed+window) {
			t.Fatalf("%d items are taken when %d results are consumed, with a window of %d", got, consumed, window)
		}
	}
	equal(t, "number of results", consumed, n)
	look(t, where).nothingLeft(t)
}

// A slow item holds up those behind it, as far as the window goes, unless the order does
// not matter.
func TestOrder(t *testing.T) {
	t.Parallel()
	const n, window = 30, 10
	where, j := newServer(t), newJournal(t)
	serve(t, connect(t, where), 4, newTask(j))
	c := connect(t, where)
	all := items(n, item{})
	all[0] = item{Do: "wait", Gate: "unordered"}
	var got []int
	for out, err := range cluster.MapSeq(bounded(t), c, newTask(j), slices.Values(all), cluster.Queue(window), cluster.Unordered()) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, out.N); len(got) == n-1 {
			j.open(t, "unordered")
		}
	}
	equal(t, "the last one", got[len(got)-1], answer(0))
	slices.Sort(got)
	for i := range n {
		equal(t, "result", got[i], answer(i))
	}

	before := len(j.events(t))
	all[0].Gate = "ordered"
	var taken atomic.Int64
	next := ahead(t, cluster.MapSeq(bounded(t), c, newTask(j), pulled(&taken, all), cluster.Queue(window)))
	j.until(t, "the window has run but for the first", func(all []event) bool { return count(all[before:], is("end")) == window-1 })
	if got := taken.Load(); got > window+1 {
		t.Errorf("%d items are taken before the first result, with a window of %d", got, window)
	}
	j.open(t, "ordered")
	for i := range n {
		if out, err, ok := next(); err != nil || !ok || out.N != answer(i) {
			t.Fatalf("result %d: %+v, %v, %v", i, out, err, ok)
		}
	}
	if out, err, ok := next(); ok {
		t.Errorf("after the end: %+v, %v", out, err)
	}
	look(t, where).nothingLeft(t)
}

// A sequence may be endless. Leaving the loop ends it.
func TestEndlessSequence(t *testing.T) {
	t.Parallel()
	const n, window = 50, 16
	where, j := newServer(t), newJournal(t)
	serve(t, connect(t, where), 4, newTask(j))
	c := connect(t, where)
	var taken atomic.Int64
	seq := cluster.MapSeq(bounded(t), c, newTask(j), pulled(&taken, nil), cluster.Queue(window))
	for range 2 { // each range is a run of its own
		taken.Store(0)
		i := 0
		for out, err := range seq {
			if err != nil || out.N != answer(i) {
				t.Fatalf("result %d: %+v, %v", i, out, err)
			}
			if i++; i == n {
				break
			}
		}
		if got := taken.Load(); got > n+window {
			t.Errorf("%d items are taken for %d results, with a window of %d", got, n, window)
		}
		look(t, where).nothingLeft(t)
	}
}

// Under KeepGoing each error comes at its place; otherwise the first ends the sequence,
// after the results before it.
func TestErrorsOfASequence(t *testing.T) {
	t.Parallel()
	const n, bad = 20, 7
	where, j := newServer(t), newJournal(t)
	serve(t, connect(t, where), 4, newTask(j))
	c := connect(t, where)
	all := items(n, item{})
	all[bad].Do, all[bad+3].Do = "fail as known", "fail as known"
	i := 0
	for out, err := range cluster.MapSeq(bounded(t), c, newTask(j), slices.Values(all), cluster.KeepGoing()) {
		var one *stint.ItemError
		switch {
		case i != bad && i != bad+3:
			if err != nil || out.N != answer(i) {
				t.Errorf("result %d: %+v, %v", i, out, err)
			}
		case !errors.As(err, &one) || one.Index != i || !errors.Is(err, errKnown):
			t.Errorf("result %d: %+v, %v", i, out, err)
		}
		i++
	}
	equal(t, "number of yields", i, n)

	var last error
	for out, err := range cluster.MapSeq(bounded(t), c, newTask(j), slices.Values(all)) {
		if last != nil {
			t.Errorf("after the error: %+v, %v", out, err)
		}
		last = err
	}
	wrong(t, last, errKnown)
	look(t, where).nothingLeft(t)
}

// A panic of the sequence is raised again where it is consumed, and ends the run. Items
// that were sent before it are removed, even if the server had not answered yet.
func TestPanicOfASequence(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	c := connect(t, where)
	for n := range 200 {
		ranged := func() (value any) {
			defer func() { value = recover() }()
			for out, err := range cluster.MapSeq(bounded(t), c, newTask(j), func(yield func(item) bool) {
				for i := range n % 4 {
					yield(item{N: i})
				}
				panic("no more")
			}) {
				t.Errorf("without a worker: %+v, %v", out, err)
			}
			return nil
		}
		if p, ok := ranged().(*stint.PanicError); !ok || p.Value != "no more" {
			t.Errorf("panic: got %v", p)
		}
	}
	look(t, where).nothingLeft(t)
}

// Nothing is the result of nothing.
func TestNoItems(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	c := connect(t, where)
	begin(bounded(t), c, newTask(j), nil).succeed(t, 0)
	for out, err := range cluster.MapSeq(bounded(t), c, newTask(j), slices.Values[[]item](nil)) {
		t.Errorf("got %+v, %v", out, err)
	}
	look(t, where).nothingLeft(t)
}
