package engine

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every engine runs every task once, within its limit.
func TestOpens(t *testing.T) {
	for _, o := range append(Opens(), Queued(Pool, 0), Queued(Group, 65536)) {
		for _, limit := range []int{1, 2, 50} {
			for _, submitters := range []int{1, 8} {
				for _, n := range []int{0, 1, 500} {
					if err := Check(o, limit, submitters, n); err != nil {
						t.Errorf("%s: limit %d, %d submitters, %d tasks: %v", o.Name, limit, submitters, n, err)
					}
				}
			}
		}
	}
}

func TestLoops(t *testing.T) {
	for _, l := range Loops() {
		for _, limit := range []int{0, 1, 2, 50} {
			for _, n := range []int{0, 1, 3, 127, 128, 3000} {
				if err := CheckLoop(l, n, limit); err != nil {
					t.Errorf("%s: limit %d, %d items: %v", l.Name, limit, n, err)
				}
			}
		}
	}
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
		"lossy":  {Check(lossy, 2, 1, 100), "50 of 100 tasks ran"},
		"greedy": {Check(greedy, 1, 1, 100), "ran at once, the limit is 1"},
		"twice":  {CheckLoop(twice, 4, 1), "index 0 of 4 was used 2 times"},
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
	for _, o := range append(Opens(), Queued(Pool, 64)) {
		if seen[o.Name] || o.Doc == "" || o.Kind == "" {
			t.Errorf("%+v: a second one, or incomplete", o)
		}
		seen[o.Name] = true
	}
	clear(seen)
	for _, l := range Loops() {
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
	for _, l := range Loops() {
		look(l.Doc)
	}
	if found < 9 {
		t.Errorf("%d engines name a version, want 9", found)
	}
}
