package loops

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/par"
)

// A histogram counts bytes. It is what each worker of a loop needs one of.
type histogram [256]int

func (h *histogram) add(s []byte) {
	counts := h[:] // whether h is nil is checked here, and not for each byte
	for _, b := range s {
		counts[b]++
	}
}

func (h *histogram) merge(other *histogram) {
	for i, n := range other {
		h[i] += n
	}
}

const (
	parRangeWith    = "par.RangeWith"
	histogramStatic = "histogram-static"
)

// counters count the bytes of a slice.
var counters = []struct {
	result.Model
	run func(s []byte) *histogram
}{
	{result.Peer.Model("histogram", "for _, b := range s { h[b]++ }"), countAlone},
	{result.Peer.Model(histogramStatic, "GOMAXPROCS chunks, a goroutine and a histogram each"), countChunks},
	{result.Peer.Model("histogram-piece", "par.Range, a histogram for each piece, as rayon's fold makes them"), countPieces},
	{result.Peer.Model("histogram-pool", "par.Range, the histogram of a piece from a sync.Pool"), countPooled},
	{result.Ours.Model(parRangeWith, "par.RangeWith"), countWith},
}

// counted measures the histogram of ten million bytes.
func (z sizes) counted(yield func(experiment.Study) bool) { all(yield, z.histogram(z.n(1e7))) }

func (z sizes) histogram(n int) iter.Seq[experiment.Study] {
	return func(yield func(experiment.Study) bool) {
		s := randomBytes(n)
		want := countAlone(s)
		c := experiment.Case{Name: fmt.Sprintf("histogram/n=%d", n), Doc: "how often each byte is there", Reference: histogramStatic, Ops: z.ops}
		for _, model := range counters {
			c.Models = append(c.Models, experiment.Model{Model: model.Model, Run: func(m *measure.Meter) error {
				var got *histogram
				m.Start()
				for range m.N {
					got = model.run(s)
				}
				m.Stop()
				if *got != *want {
					return fmt.Errorf("the histogram is %v, want %v", got, want)
				}
				return nil
			}})
		}
		yield(experiment.One(c, claims([]string{parRangeWith}, ratio(c.Name, histogramStatic, 1.05))...))
	}
}

// randomBytes returns n bytes, always the same.
func randomBytes(n int) []byte {
	r := rand.New(rand.NewPCG(7, 8))
	s := make([]byte, n)
	for i := range s {
		s[i] = byte(r.Uint32())
	}
	return s
}

func countAlone(s []byte) *histogram {
	h := new(histogram)
	h.add(s)
	return h
}

func countChunks(s []byte) *histogram {
	p := min(runtime.GOMAXPROCS(0), len(s))
	parts := make([]*histogram, p)
	var wg sync.WaitGroup
	for w := range p {
		wg.Go(func() { parts[w] = countAlone(s[w*len(s)/p : (w+1)*len(s)/p]) })
	}
	wg.Wait()
	return merged(parts)
}

func countPieces(s []byte) *histogram {
	var mu sync.Mutex
	all := new(histogram)
	par.Range(len(s), func(lo, hi int) {
		h := countAlone(s[lo:hi])
		mu.Lock()
		defer mu.Unlock()
		all.merge(h)
	})
	return all
}

func countPooled(s []byte) *histogram {
	var mu sync.Mutex
	var made []*histogram
	pool := sync.Pool{New: func() any {
		h := new(histogram)
		mu.Lock()
		defer mu.Unlock()
		made = append(made, h)
		return h
	}}
	par.Range(len(s), func(lo, hi int) {
		h := pool.Get().(*histogram)
		h.add(s[lo:hi])
		pool.Put(h)
	})
	return merged(made)
}

func countWith(s []byte) *histogram {
	return merged(par.RangeWith(len(s), func() *histogram { return new(histogram) },
		func(h *histogram, lo, hi int) { h.add(s[lo:hi]) }))
}

// merged adds the parts to the first of them.
func merged(parts []*histogram) *histogram {
	for _, h := range parts[1:] {
		parts[0].merge(h)
	}
	return parts[0]
}
