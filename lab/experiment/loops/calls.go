package loops

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/par"
)

// A call does an operation and reports whether its result is right.
type call struct {
	kind      result.Kind
	name, doc string
	right     func() bool
}

func models(calls ...call) []experiment.Model {
	var out []experiment.Model
	for _, c := range calls {
		out = append(out, experiment.Op(c.kind.Model(c.name, c.doc), func() error {
			if !c.right() {
				return errors.New("a wrong result")
			}
			return nil
		}))
	}
	return out
}

// pieces returns the values of f for GOMAXPROCS pieces of s, a goroutine each.
func pieces[T, R any](s []T, f func([]T) R) []R {
	p := min(runtime.GOMAXPROCS(0), len(s))
	out := make([]R, p)
	var wg sync.WaitGroup
	for w := range p {
		wg.Go(func() { out[w] = f(s[w*len(s)/p : (w+1)*len(s)/p]) })
	}
	wg.Wait()
	return out
}

func sum(s []float64) (a float64) {
	for _, v := range s {
		a += v
	}
	return a
}

func add(a, v float64) float64 { return a + v }

// folding returns a loop that calls f, as par.Reduce does.
//
//go:noinline so that f is not inlined
func folding(f func(a, v float64) float64) func(s []float64) float64 {
	return func(s []float64) (a float64) {
		for _, v := range s {
			a = f(a, v)
		}
		return a
	}
}

// reduced numbers are of various magnitudes.
func reduced(n int) func() []experiment.Model {
	return func() []experiment.Model {
		r := rand.New(rand.NewPCG(5, 6))
		s := make([]float64, n)
		for i := range s {
			s[i] = r.Float64() / float64(1+i%1000)
		}
		fold, want := folding(add), sum(s)
		right := func(got float64) bool { return math.Abs(got-want) <= 1e-9*want }
		return models(
			call{result.Peer, "sum", "for _, v := range s { a += v }", func() bool { return right(sum(s)) }},
			call{result.Peer, "sum-static", "the same of GOMAXPROCS pieces, a goroutine each", func() bool { return right(sum(pieces(s, sum))) }},
			call{result.Peer, "fold-static", "the same with for _, v := range s { a = f(a, v) }", func() bool { return right(sum(pieces(s, fold))) }},
			call{result.Ours, "par.Reduce", "par.Reduce", func() bool { return right(par.Reduce(s, func() float64 { return 0 }, add, add)) }})
	}
}

// A histogram counts bytes. It is what each worker of a loop needs one of.
type histogram [256]int

func (h *histogram) add(s []byte) *histogram {
	counts := h[:] // whether h is nil is checked here, and not for each byte
	for _, b := range s {
		counts[b]++
	}
	return h
}

func histogramOf(s []byte) *histogram { return new(histogram).add(s) }

// merged adds the histograms to the first of them.
func merged(all []*histogram) histogram {
	for _, h := range all[1:] {
		for i, n := range h {
			all[0][i] += n
		}
	}
	return *all[0]
}

// counted bytes are random.
func counted(n int) func() []experiment.Model {
	return func() []experiment.Model {
		s := make([]byte, n)
		rand.NewChaCha8([32]byte{}).Read(s)
		want := *histogramOf(s)
		return models(
			call{result.Peer, "histogram", "for _, b := range s { h[b]++ }", func() bool { return *histogramOf(s) == want }},
			call{result.Peer, "histogram-static", "GOMAXPROCS pieces, a goroutine and a histogram each",
				func() bool { return merged(pieces(s, histogramOf)) == want }},
			call{result.Peer, "histogram-piece", "par.Range, a histogram for each piece, as rayon's fold makes them", func() bool {
				var mu sync.Mutex
				var all []*histogram
				par.Range(n, func(lo, hi int) {
					h := histogramOf(s[lo:hi])
					mu.Lock()
					defer mu.Unlock()
					all = append(all, h)
				})
				return merged(all) == want
			}},
			call{result.Ours, "par.RangeWith", "par.RangeWith", func() bool {
				return merged(par.RangeWith(n, func() *histogram { return new(histogram) }, func(h *histogram, lo, hi int) { h.add(s[lo:hi]) })) == want
			}})
	}
}

// found elements are the first like the one at an index.
func found(n, at int) func() []experiment.Model {
	return func() []experiment.Model {
		s, sought := make([]int, n), mix(at)
		for i := range s {
			s[i] = i
		}
		is := func(v int) bool { return mix(v) == sought }
		return models(
			call{result.Peer, "slices.IndexFunc", "slices.IndexFunc", func() bool { return slices.IndexFunc(s, is) == at }},
			call{result.Ours, "par.Find", "par.Find", func() bool { return par.Find(s, is) == at }})
	}
}
