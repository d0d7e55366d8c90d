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

// checked returns a function that returns models whose results must be right.
func checked[R any](right func(R) bool) func(k result.Kind, name, doc string, run func() R) experiment.Model {
	return func(k result.Kind, name, doc string, run func() R) experiment.Model {
		return experiment.Op(k.Model(name, doc), func() error {
			if !right(run()) {
				return errors.New("a wrong result")
			}
			return nil
		})
	}
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

// add is a variable, so that it is called: the function of a caller is not inlined.
var add = func(a, v float64) float64 { return a + v }

func fold(s []float64) (a float64) {
	for _, v := range s {
		a = add(a, v)
	}
	return a
}

// reduced numbers are of various magnitudes.
func reduced(n int) func() []experiment.Model {
	return func() []experiment.Model {
		r := rand.New(rand.NewPCG(5, 6))
		s := make([]float64, n)
		for i := range s {
			s[i] = r.Float64() / float64(1+i%1000)
		}
		want := sum(s)
		of := checked(func(got float64) bool { return math.Abs(got-want) <= 1e-9*want })
		return []experiment.Model{
			of(result.Peer, "sum", "for _, v := range s { a += v }", func() float64 { return sum(s) }),
			of(result.Peer, "sum-static", "the same of GOMAXPROCS pieces, a goroutine each", func() float64 { return sum(pieces(s, sum)) }),
			of(result.Peer, "fold-static", "the same with for _, v := range s { a = f(a, v) }", func() float64 { return sum(pieces(s, fold)) }),
			of(result.Ours, "par.Reduce", "par.Reduce", func() float64 { return par.Reduce(s, func() float64 { return 0 }, add, add) }),
		}
	}
}

// A histogram counts bytes. It is what each worker of a loop needs one of.
type histogram [256]int

func histogramOf(s []byte) *histogram {
	h := new(histogram)
	h.add(s)
	return h
}

func (h *histogram) add(s []byte) {
	counts := h[:] // whether h is nil is checked here, and not for each byte
	for _, b := range s {
		counts[b]++
	}
}

// merged adds the histograms to the first of them.
func merged(all []*histogram) *histogram {
	for _, h := range all[1:] {
		for i, n := range h {
			all[0][i] += n
		}
	}
	return all[0]
}

// counted bytes are random.
func counted(n int) func() []experiment.Model {
	return func() []experiment.Model {
		s := make([]byte, n)
		rand.NewChaCha8([32]byte{}).Read(s)
		want := *histogramOf(s)
		of := checked(func(got *histogram) bool { return *got == want })
		return []experiment.Model{
			of(result.Peer, "histogram", "for _, b := range s { h[b]++ }", func() *histogram { return histogramOf(s) }),
			of(result.Peer, "histogram-static", "GOMAXPROCS pieces, a goroutine and a histogram each", func() *histogram { return merged(pieces(s, histogramOf)) }),
			of(result.Peer, "histogram-piece", "par.Range, a histogram for each piece, as rayon's fold makes them", func() *histogram {
				var mu sync.Mutex
				all := new(histogram)
				par.Range(n, func(lo, hi int) {
					h := histogramOf(s[lo:hi])
					mu.Lock()
					defer mu.Unlock()
					merged([]*histogram{all, h})
				})
				return all
			}),
			of(result.Ours, "par.RangeWith", "par.RangeWith", func() *histogram {
				return merged(par.RangeWith(n, func() *histogram { return new(histogram) }, func(h *histogram, lo, hi int) { h.add(s[lo:hi]) }))
			}),
		}
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
		of := checked(func(got int) bool { return got == at })
		return []experiment.Model{
			of(result.Peer, "slices.IndexFunc", "slices.IndexFunc", func() int { return slices.IndexFunc(s, is) }),
			of(result.Ours, "par.Find", "par.Find", func() int { return par.Find(s, is) }),
		}
	}
}
