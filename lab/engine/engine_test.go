package engine

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
)

// every returns all engines.
func every() []Open {
	return append(Opens(), Reused(Errgroup()), Reused(Conc()), Reused(Pool()))
}

// Every engine runs every task once, within its limit.
func TestOpens(t *testing.T) {
	for _, o := range every() {
		for _, limit := range []int{1, 2, 50} {
			for _, n := range []int{0, 1, 500} {
				if err := Check(o, limit, n); err != nil {
					t.Errorf("%s: limit %d, %d tasks: %v", o.Name, limit, n, err)
				}
			}
		}
	}
}

// A kept engine runs its tasks again.
func TestKept(t *testing.T) {
	for _, o := range every() {
		if !o.Kept {
			continue
		}
		ran := new(atomic.Int64)
		x := o.New(3, TaskOf(func() { ran.Add(1) }))
		for run := range int64(3) {
			x.Go(100)
			x.Wait()
			if n := ran.Load(); n != 100*(run+1) {
				t.Errorf("%s: %d tasks after %d runs of 100", o.Name, n, run+1)
			}
		}
		x.Close()
	}
}

func TestLoops(t *testing.T) {
	for _, l := range loops() {
		for _, limit := range []int{0, 1, 2, 50} {
			for _, n := range []int{0, 1, 3, 127, 128, 3000} {
				if err := checkLoop(l, n, limit); err != nil {
					t.Errorf("%s: limit %d, %d items: %v", l.Name, limit, n, err)
				}
			}
		}
	}
}

// loops returns all Loops, stint's last.
func loops() []Loop {
	return []Loop{
		Plain(), PlainEach(), PlainRange(), Static(), StaticRange(), Counter(1), Counter(1024), GoroutineEach(), ErrgroupEach(), ConcIter(), Rill(),
		Range(), Each(), ParEach(), ParRange(),
	}
}

// checkLoop is Check for a Loop. Each index must be used once.
func checkLoop(l Loop, n, limit int) error {
	most := limitOrProcs(limit)
	switch {
	case l.Unbounded:
		most = n
	case l.Unlimited:
		most = limitOrProcs(0)
	case limit == 0 && l.AdaptiveMax > 0:
		most = l.AdaptiveMax
	}
	seen := make([]atomic.Int32, n)
	err := Counted(n, most, func(task func()) {
		l.Run(n, limit, BodyOf(func(i int) {
			seen[i].Add(1)
			task()
		}))
	})
	for i := range seen {
		if times := seen[i].Load(); times != 1 {
			return fmt.Errorf("index %d of %d was used %d times", i, n, times)
		}
	}
	return err
}

// The checks detect faults.
func TestChecks(t *testing.T) {
	lossy, greedy := Channel(), Goroutines()
	lossy.New = func(limit int, task Task) Engine { return half{Channel().New(limit, task)} }
	greedy.Unbounded = false
	twice := Plain()
	twice.Run = func(n, _ int, b Body) {
		for i := range n {
			b.Plain(i / 2)
		}
	}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"lossy":  {Check(lossy, 2, 100), "50 of 100 tasks ran"},
		"greedy": {Check(greedy, 1, 100), "ran at once, the limit is 1"},
		"twice":  {checkLoop(twice, 4, 1), "index 0 of 4 was used 2 times"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, c.err, c.want)
		}
	}
}

// half is an engine that drops half of its tasks.
type half struct{ Engine }

func (h half) Go(n int) { h.Engine.Go(n / 2) }

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range every() {
		if seen[o.Name] || o.Doc == "" || o.Kind == "" {
			t.Errorf("%+v: a second one, or incomplete", o)
		}
		seen[o.Name] = true
	}
	clear(seen)
	for _, l := range loops() {
		if seen[l.Name] || l.Doc == "" || l.Kind == "" {
			t.Errorf("%+v: a second one, or incomplete", l)
		}
		seen[l.Name] = true
	}
}

// A library's description has the version that is compiled in.
func TestVersions(t *testing.T) {
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`^\S+ v[\d.]+\d`)
	found := 0
	look := func(doc string) {
		if v := version.FindString(doc); v != "" {
			found++
			if !strings.Contains(string(mod), "/"+v+"\n") {
				t.Errorf("%s: not in go.mod", v)
			}
		}
	}
	for _, o := range Opens() {
		look(o.Doc)
	}
	for _, l := range loops() {
		look(l.Doc)
	}
	if found < 9 {
		t.Errorf("%d engines name a version, want 9", found)
	}
}
