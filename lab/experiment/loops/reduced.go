package loops

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/par"
)

// A reduction reduces numbers to one. Models named fold call a function per
// item, as par.Reduce must; the others add in their loops.
type reduction struct {
	result.Model
	run func(s []float64) float64
}

const parReduce = "par.Reduce"

var reductions = []reduction{
	{result.Peer.Model("sum", "for _, v := range s { a += v }"), addAll},
	{result.Peer.Model("sum-static", "the same of GOMAXPROCS chunks, a goroutine each"), chunks(addAll)},
	{result.Peer.Model("fold", "for _, v := range s { a = f(a, v) }"), folding(add)},
	{result.Peer.Model("fold-static", "the same of GOMAXPROCS chunks, a goroutine each"), chunks(folding(add))},
	{result.Ours.Model(parReduce, "par.Reduce"), reducePar},
}

// reduced measures the sum of ten million floating-point numbers, which depends
// on the order of additions.
func (z sizes) reduced(yield func(experiment.Study) bool) { all(yield, z.total(z.n(1e7))) }

func (z sizes) total(n int) iter.Seq[experiment.Study] {
	return func(yield func(experiment.Study) bool) {
		s := numbers(n)
		want := exact(s)
		same := sync.OnceValue(func() error { return identical(reducePar, s) })
		c := experiment.Case{Name: fmt.Sprintf("reduce=sum/n=%d", n), Doc: "a sum of float64; par.Reduce gives the same bits at GOMAXPROCS 1, 2, 3 and 8", Reference: "sum-static", Ops: z.ops}
		for _, model := range reductions {
			c.Models = append(c.Models, experiment.Model{Model: model.Model, Run: func(m *measure.Meter) error {
				got := 0.0
				m.Start()
				for range m.N {
					got = model.run(s)
				}
				m.Stop()
				if math.Abs(got-want) > 1e-9*want {
					return fmt.Errorf("the sum is %v, want %v", got, want)
				}
				if model.Name == parReduce {
					return same()
				}
				return nil
			}})
		}
		yield(experiment.One(c, claims([]string{parReduce}, ratio(c.Name, "sum-static", 1.05), ratio(c.Name, "fold-static", 1.05))...))
	}
}

// numbers returns n numbers from 0 to 1 of various magnitudes, always the same.
func numbers(n int) []float64 {
	r := rand.New(rand.NewPCG(5, 6))
	s := make([]float64, n)
	for i := range s {
		s[i] = r.Float64() / float64(1+i%1000)
	}
	return s
}

// exact returns the sum with compensated rounding errors.
func exact(s []float64) float64 {
	sum, lost := 0.0, 0.0
	for _, v := range s {
		v -= lost
		next := sum + v
		lost = (next - sum) - v
		sum = next
	}
	return sum
}

// identical checks that run gives the same bits on 1, 2, 3 and 8 processors.
func identical(run func([]float64) float64, s []float64) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	first := run(s)
	for _, procs := range []int{2, 3, 8} {
		runtime.GOMAXPROCS(procs)
		if got := run(s); math.Float64bits(got) != math.Float64bits(first) {
			return fmt.Errorf("the sum is %v at GOMAXPROCS %d, %v at 1", got, procs, first)
		}
	}
	return nil
}

func addAll(s []float64) float64 {
	a := 0.0
	for _, v := range s {
		a += v
	}
	return a
}

func add(a, v float64) float64 { return a + v }

// folding returns a loop that calls f through a variable.
func folding(f func(a, v float64) float64) func(s []float64) float64 {
	return func(s []float64) float64 {
		a := 0.0
		for _, v := range s {
			a = f(a, v)
		}
		return a
	}
}

// chunks applies run to GOMAXPROCS chunks and adds the results.
func chunks(run func(s []float64) float64) func(s []float64) float64 {
	return func(s []float64) float64 {
		p := min(runtime.GOMAXPROCS(0), len(s))
		parts := make([]float64, p)
		var wg sync.WaitGroup
		for w := range p {
			wg.Go(func() { parts[w] = run(s[w*len(s)/p : (w+1)*len(s)/p]) })
		}
		wg.Wait()
		return addAll(parts)
	}
}

func reducePar(s []float64) float64 { return par.Reduce(s, func() float64 { return 0 }, add, add) }
