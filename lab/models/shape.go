package models

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
)

// The names of models that claims are about.
const (
	NameSequential       = "sequential"
	NamePipeline         = "pipeline"
	NamePipelineBuffered = "pipeline-buffered"
	NameFan              = "fan"
	NameFanBuffered      = "fan-buffered"
	NameParallelize      = "parallelize"
	NameBalanced         = "parallelize-balanced"
	NamePoolMin          = "pool-min"
	NamePool             = "pool"
	NamePoolMax          = "pool-max"
	NameGoroutines       = "goroutines"
)

// A Shape is how many goroutines the models of the article about pools start.
type Shape struct {
	Fan  int // that work in a fan; NumCPU/2 in the article
	CPUs int // pieces of parallelize, which pools derive from as well; 0: runtime.NumCPU
}

// ShapeOf returns the shape for this machine, whose fan has at least the given
// number of workers, or that for the session's workers.
func ShapeOf(s *experiment.Session, least int) Shape {
	return Shape{Fan: cmp.Or(s.Workers, max(least, runtime.NumCPU()/2)), CPUs: 2 * s.Workers}
}

// Note describes the shape to readers of a report.
func (s Shape) Note() string {
	return fmt.Sprintf("NumCPU is runtime.NumCPU, as in the article, or twice the flag --workers. It does not follow GOMAXPROCS. "+
		"A fan has %d workers, in the article NumCPU/2.", s.Fan)
}

// cpus does not follow GOMAXPROCS, as in the article.
func (s Shape) cpus() int { return cmp.Or(s.CPUs, runtime.NumCPU()) }

// Models returns the article's models, and the pipeline as a stream.
func (s Shape) Models() []Model {
	const onePipe = "one that works on them, the caller adds up"
	return slices.Concat([]Model{
		Sequential(), staged(NamePipeline, onePipe, 1, 0), staged(NamePipelineBuffered, onePipe, 1, buffer), Stream(),
	}, s.Concurrent(), []Model{Goroutines()})
}

// Concurrent returns the article's models that the shape matters for.
func (s Shape) Concurrent() []Model {
	const fanned = "several that work on them, as many that merge their channels into one, the caller adds up"
	return []Model{
		staged(NameFan, fanned, s.Fan, 0), staged(NameFanBuffered, fanned, s.Fan, buffer),
		s.parallelize(NameParallelize, "the remainder to the last", remainderLast),
		s.parallelize(NameBalanced, "the remainder to all", evenly),
		pool(NamePoolMin, "NumCPU/2", func() int { return max(1, s.cpus()/2) }),
		pool(NamePool, "NumCPU", s.cpus),
		pool(NamePoolMax, "10 x NumCPU", func() int { return 10 * s.cpus() }),
	}
}

// remainderLast returns the piece p of n items as the article cuts them: of 100
// items in 28 pieces, the last has 19 and the others 3.
func remainderLast(n, p, pieces int) (lo, hi int) {
	lo, hi = p*(n/pieces), (p+1)*(n/pieces)
	if p == pieces-1 {
		hi = n
	}
	return lo, hi
}

// evenly returns the piece p of n items.
func evenly(n, p, pieces int) (lo, hi int) { return p * n / pieces, (p + 1) * n / pieces }

// parallelize cuts the list into as many pieces as CPUs.
func (s Shape) parallelize(name, doc string, cut func(n, p, pieces int) (lo, hi int)) Model {
	m := Simple(name, result.Peer, "the list cut into NumCPU pieces, "+doc+", a goroutine and a sum each, one lock at the end", func(l List) uint64 {
		pieces := s.cpus()
		return start(pieces, func(p int) (sum uint64) {
			lo, hi := cut(l.N, p, pieces)
			for i := lo; i < hi; i++ {
				sum += l.Item(i)
			}
			return sum
		})()
	})
	m.Goroutines = s.cpus
	return m
}

// Sequential is a loop.
func Sequential() Model {
	return Simple(NameSequential, result.Peer, "for i := range n { sum += f(i) }", List.Sum)
}

// Goroutines is a goroutine per item, which adds to one atomic sum.
func Goroutines() Model {
	e := engine.GoroutineEach()
	m := Simple(NameGoroutines, e.Kind, e.Doc+", one atomic sum", func(l List) uint64 {
		var sum atomic.Uint64
		e.Run(l.N, 0, engine.Body{Plain: func(i int) { sum.Add(l.Item(i)) }})
		return sum.Load()
	})
	m.Unbounded = true
	return m
}
