package models

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// every returns all models, with and without limits.
func every() []Model {
	return slices.Concat(Shape{Fan: 3, CPUs: 7}.Models(), Peers(3), []Model{Counter(3), Workers("workers-7", "7", 7, 10), EachLimit(2), Pool(), Reduce()}, Calls())
}

// numbered returns a list of n items that counts concurrent ones.
func numbered(n int) (List, *engine.Gauge) {
	g := new(engine.Gauge)
	l := List{N: n, Item: func(i int) uint64 {
		g.Enter()
		runtime.Gosched()
		g.Leave()
		return Key(i)
	}}
	l.Want = l.Sum()
	return l, g
}

// Every model takes every item once, in each run, on any number of processors.
func TestModels(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(procs)
		for _, n := range []int{0, 1, 2, 100, 2500} {
			l, _ := numbered(n)
			for _, m := range l.Models(every()...) {
				if err := m.Run(&measure.Meter{N: 3}); err != nil {
					t.Errorf("%d processors: %s: %v", procs, m.Name, err)
				}
			}
		}
	}
}

// A bounded model keeps its bound.
func TestBounds(t *testing.T) {
	for _, m := range every() {
		l, g := numbered(3000)
		run, end := m.New(l)
		run()
		end()
		bound := max(70, 256) // the largest adaptive limit
		if got := g.Peak(); got > bound && !m.Unbounded {
			t.Errorf("%s: %d items at once, want at most %d", m.Name, got, bound)
		}
	}
}

// A lost or duplicated item is detected.
func TestWrongSums(t *testing.T) {
	l, _ := numbered(10)
	for name, last := range map[string]int{"lost": -1, "taken twice": 8} {
		wrong := Simple("wrong", result.Peer, "", func(l List) uint64 {
			sum := l.Want - Key(9)
			if last >= 0 {
				sum += l.Item(last)
			}
			return sum
		})
		err := l.Models(wrong)[0].Run(&measure.Meter{N: 2})
		if err == nil || !strings.Contains(err.Error(), "2 of 2 runs over 10 items gave another sum") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// The points of a sweep have their positions.
func TestSweep(t *testing.T) {
	var workers, limits []float64
	for _, m := range Sweep(10, EachLimit) {
		switch m.Sweep {
		case "workers":
			workers = append(workers, m.At)
		case "limit":
			limits = append(limits, m.At)
		default:
			t.Errorf("%s is on no sweep", m.Name)
		}
	}
	if want := []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}; !slices.Equal(workers, want) || !slices.Equal(limits, want) {
		t.Errorf("workers %v, limits %v, want %v", workers, limits, want)
	}
}

// Both cuts have every item once; the article's has the remainder in the last piece.
func TestPieces(t *testing.T) {
	for _, c := range []struct {
		cut    func(n, p, pieces int) (lo, hi int)
		n      int
		pieces int
		last   int
	}{{remainderLast, 100, 28, 19}, {remainderLast, 100, 2, 50}, {remainderLast, 3, 8, 3}, {evenly, 100, 28, 4}, {evenly, 3, 8, 1}} {
		end, size := 0, 0
		for p := range c.pieces {
			lo, hi := c.cut(c.n, p, c.pieces)
			if lo != end {
				t.Errorf("%+v: piece %d starts at %d, want %d", c, p, lo, end)
			}
			end, size = hi, hi-lo
		}
		if end != c.n || size != c.last {
			t.Errorf("%d items in %d pieces: the end is %d, and the last has %d, want %d", c.n, c.pieces, end, size, c.last)
		}
	}
}

// A sample has more than a time.
func TestReported(t *testing.T) {
	l, g := numbered(100)
	l.Gauge = g
	for _, m := range l.Models(Shape{Fan: 3}.Models()...) {
		meter := &measure.Meter{N: 1}
		if err := m.Run(meter); err != nil {
			t.Fatal(err)
		}
		s := meter.Sample()
		if m.Name == NameSequential && s[measure.AtOnce] != 1 || s[measure.AtOnce] < 1 {
			t.Errorf("%s: %v at once", m.Name, s[measure.AtOnce])
		}
		want := map[string]int{NameParallelize: runtime.NumCPU(), NameBalanced: runtime.NumCPU(), NameFan: 7, NamePoolMax: 2 + 10*runtime.NumCPU()}
		if n, ok := want[m.Name]; ok && s[measure.Goroutines] != float64(n) {
			t.Errorf("%s: %v goroutines, want %d", m.Name, s[measure.Goroutines], n)
		}
	}
}

// On one processor there is one case, and no claim about another.
func TestOnBoth(t *testing.T) {
	claims := func(on experiment.Names) []result.Claim { return Unhinted(on, NameEach) }
	for procs, want := range map[int][]string{1: {"n=1/procs=1"}, 2: {"n=1/procs=1", "n=1"}} {
		b := (&experiment.Session{Procs: []int{procs}}).NewBench("x", "")
		st := b.OnBoth(experiment.Case{Name: "n=1"}, claims)
		if _, err := b.Conclude(nil); err != nil {
			t.Fatal(err)
		}
		var names, claimed []string
		for _, c := range st.Cases {
			names = append(names, c.Name)
		}
		for _, c := range st.Claims {
			claimed = append(claimed, c.Case)
		}
		if !slices.Equal(names, want) || !slices.Equal(claimed, want) || st.Cases[0].Processors != 1 {
			t.Errorf("%d processors: cases %q, claims about %q, want %q", procs, names, claimed, want)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range every() {
		if seen[m.Name] || m.Doc == "" || m.Kind == "" {
			t.Errorf("%+v: a second one, or incomplete", m.Model)
		}
		seen[m.Name] = true
	}
}
