package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/errgroup"
	"github.com/stint-go/stint/internal/goroutine"
	"github.com/stint-go/stint/par"
	"github.com/stint-go/stint/stream"
)

// A raiser is a call that raises panics of its tasks. call calls panics and blocks
// concurrently; the panic is raised when blocks has returned.
type raiser struct {
	name string
	by   string // as the text names the call
	call func(panics, blocks func())
}

// byItem calls panics for item 0 and blocks for another.
func byItem(panics, blocks func()) func(context.Context, int) error {
	return func(_ context.Context, i int) error {
		if i == 0 {
			panics()
		} else {
			blocks()
		}
		return nil
	}
}

// twoTasks are the raisers of tasks: every entry point, on a limit and on a pool.
func twoTasks() (raisers []raiser) {
	by := map[string]string{
		"Unordered": "MapSeq", "Group": "Group.Wait", "GoContext": "Group.Wait", "Results": "Results.Wait",
	}
	for _, e := range entryPoints {
		for _, k := range limitKinds[2:4] {
			name := e.name
			if by[name] != "" {
				name = by[name]
			}
			raisers = append(raisers, raiser{e.name + " on a " + k.name, name + ` of "mail"; other tasks that run: 1`, func(panics, blocks func()) {
				opts, shut := k.open(2)
				defer shut()
				e.run(context.Background(), 2, byItem(panics, blocks), append(opts, stint.Name("mail"))...)
			}})
		}
	}
	return raisers
}

// passages are the raisers of panics that no task has: they pass through.
var passages = []raiser{
	{"sequence of EachSeq", "EachSeq; other tasks that run: 1", func(panics, blocks func()) {
		seq := func(yield func(int) bool) { yield(1); panics() }
		stint.EachSeq(context.Background(), seq, func(context.Context, int) error { blocks(); return nil }, stint.Limit(1))
	}},
	{"body of MapSeq", "MapSeq; other tasks that run: 1", func(panics, blocks func()) {
		f := func(_ context.Context, i int) (int, error) {
			if i > 0 {
				blocks()
			}
			return i, nil
		}
		for range stint.MapSeq(context.Background(), count(2), f, stint.Limit(2)) {
			panics()
		}
	}},
	{"body of All", "the terminal of a stream; other functions", func(panics, blocks func()) {
		for range parMapped(func() {}, blocks).All(context.Background()) {
			panics()
		}
	}},
	{"terminal of a stream", "the terminal of a stream; other functions", func(panics, blocks func()) {
		stream.Each(context.Background(), parMapped(func() {}, blocks), func(int) error { panics(); return nil })
	}},
}

// parMapped returns a stream whose functions are byItem.
func parMapped(panics, blocks func()) stream.Stream[int] {
	f := byItem(panics, blocks)
	return stream.ParMap(stream.From(indexes(2)), func(ctx context.Context, i int) (int, error) { return i, f(ctx, i) }, stint.Limit(2))
}

// others are the raisers of the other packages.
var others = []raiser{
	{"ParMap", "the terminal of a stream; other functions", func(panics, blocks func()) {
		stream.Collect(context.Background(), parMapped(panics, blocks))
	}},
	{"source before a Buffer", "the terminal of a stream; other functions", func(panics, blocks func()) {
		var seq iter.Seq[int] = func(yield func(int) bool) { yield(0); panics() }
		s := stream.Buffer(stream.FromSeq(seq), 1)
		stream.Each(context.Background(), s, func(int) error { blocks(); return nil })
	}},
	{"Merge", "the terminal of a stream; other functions", func(panics, blocks func()) {
		of := func(f func()) stream.Stream[int] {
			return stream.Map(stream.From(indexes(1)), func(i int) int { f(); return i })
		}
		stream.Collect(context.Background(), stream.Merge(of(panics), of(blocks)))
	}},
	{"par.Each", "the call of package par; other goroutines", func(panics, blocks func()) {
		par.Each(indexes(2), func(i *int) { byItem(panics, blocks)(nil, *i) })
	}},
	{"par.SortStableFunc", "the call of package par; other goroutines", func(panics, blocks func()) {
		caller, numbers := goroutine.ID(), rand.New(rand.NewPCG(1, 2)).Perm(1<<16)
		var calls, blocked atomic.Int32 // by the caller, of which the first are alone; by others
		par.SortStableFunc(numbers, func(a, b int) int {
			switch {
			case calls.Load() >= 1000 && blocked.Load() > 0:
			case goroutine.ID() != caller:
				if blocked.Add(1) == 1 {
					blocks()
				}
			case calls.Add(1) == 1000:
				panics()
			}
			return a - b
		})
	}},
	{"errgroup", "errgroup.Group.Wait; other tasks that run: 1", func(panics, blocks func()) {
		var g errgroup.Group
		g.Go(func() error { panics(); return nil })
		g.Go(func() error { blocks(); return nil })
		g.Wait()
	}},
}

// A panic that is not raised within a second is written to standard error, once. One that is
// raised in time is not.
func TestUnraisedPanicsAreWritten(t *testing.T) {
	raisers := append(append(twoTasks(), passages...), others...)
	if isChild() {
		runtime.GOMAXPROCS(4) // for par
		for _, r := range raisers {
			for _, took := range []time.Duration{time.Second / 2, 3 * time.Second} {
				fmt.Fprintf(os.Stderr, "== %s, %v\n", r.name, took)
				synctest.Test(t, func(t *testing.T) { unraised(t, r, took) })
			}
		}
		return
	}
	output, failed := child(t)
	equal(t, "failed", failed, false)
	for _, r := range raisers {
		equal(t, r.name+": raised in time", section(output, r.name+", 500ms"), "")
		written := section(output, r.name+", 3s")
		passes := strings.Count(written, "a panic that passes through "+r.by)
		raised := strings.Count(written, "a panic that will be raised by "+r.by) + strings.Count(written, "panicked: boom of "+r.name)
		if passes+raised/2 != 1 || raised == 1 || !strings.Contains(written, "conformance_test.explode(") {
			t.Errorf("%s: written:\n%s\nwant a panic of %s, once, with its stack", r.name, written, r.by)
		}
	}
}

// unraised makes the call of d, in which a task blocks for some time after a panic.
func unraised(t *testing.T, r raiser, took time.Duration) {
	defer noneLeft(t)
	blocked := make(chan struct{})
	start := time.Now()
	v := recovered(func() {
		r.call(func() { <-blocked; explode("boom of " + r.name) }, func() { close(blocked); time.Sleep(took) })
	})
	if p, ok := v.(*stint.PanicError); ok {
		v = p.Value
	}
	equal(t, r.name, v, any("boom of "+r.name))
	equal(t, r.name, time.Since(start), took)
}

// section returns the part of output under a head.
func section(output, head string) string {
	_, text, _ := strings.Cut(output, "== "+head+"\n")
	text, _, _ = strings.Cut(text, "\n== ")
	text, _, _ = strings.Cut(text, "== ")
	return strings.TrimSuffix(text, "PASS\n")
}

var dropped = regexp.MustCompile(`\npanic: .* was dropped, and nobody called its Wait: (stint|errgroup): task panicked: boom\n`)

// A group that is dropped without Wait crashes the process with the panic of its task.
func TestPanicOfADroppedGroupCrashes(t *testing.T) {
	boom := func() error { explode("boom"); return nil }
	for name, drop := range map[string]func(){
		"Group":    func() { stint.NewGroup(t.Context()).Go(func(context.Context) error { return boom() }) },
		"errgroup": func() { new(errgroup.Group).Go(boom) },
		"Results": func() {
			stint.NewResults[int](t.Context()).Go(func(context.Context) (int, error) { return 0, boom() })
		},
		"Pool": func() {
			stint.NewGroup(t.Context(), stint.NewPool()).Go(func(context.Context) error { return boom() })
		},
	} {
		t.Run(name, func(t *testing.T) { droppedGroup(t, drop) })
	}
}

func droppedGroup(t *testing.T, drop func()) {
	if !isChild() {
		output, failed := child(t)
		if !failed || !dropped.MatchString(output) || !strings.Contains(output, "conformance_test.explode(") {
			t.Errorf("want a crash with the panic and the stack of the task; got:\n%s", output)
		}
		return
	}
	synctest.Test(t, func(t *testing.T) {
		drop()
		time.Sleep(2 * time.Second) // its worker has ended
	})
	for range 1000 {
		runtime.GC()
	}
}

// A group that was waited for does not crash, even if somebody recovers the panic.
func TestPanicOfAGroupIsRaisedOnly(t *testing.T) {
	for range 3 {
		g, e := stint.NewGroup(context.Background()), new(errgroup.Group)
		g.Go(func(context.Context) error { return errors.New(fmt.Sprint(recovered(func() { explode("boom") }))) })
		g.Go(func(context.Context) error { explode("boom"); return nil })
		e.Go(func() error { explode("boom"); return nil })
		recovered(func() { g.Wait() })
		recovered(func() { e.Wait() })
	}
	for range 3 {
		runtime.GC()
	}
}
