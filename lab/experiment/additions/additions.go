// Package additions is the experiment add. It measures what splitting the shortest of
// all items is worth: the sum of many numbers, on one processor and on all.
package additions

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/par"
)

// Experiment is the experiment.
var Experiment = experiment.Experiment{
	Name: "add",
	Doc:  "adding numbers: a loop, halves, chunks by hand and by libraries, package par",
	Run: func(ctx context.Context, s *experiment.Session) (*result.Result, error) {
		z := sizes{n: 10_000_000, chunk: 1 << 16}
		if s.Quick {
			z.n /= 10
		}
		return run(ctx, s, z)
	},
}

// sizes are what a quick run and a test make smaller.
type sizes struct {
	n, chunk int
	ops      int // sums a sample; 0: as many as take long enough
}

const (
	nameSplit = "split"
	nameRange = "par.Range"
)

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("add", fmt.Sprintf("the sum of %d random numbers", z.n),
		"An op is a sum. All but sequential, split, par.Range and par.Reduce are given chunks of numbers as items; they are cut before the time begins.",
		"par.Reduce calls a function for each number, the others have the addition in their loops.",
		"NumCPU is runtime.NumCPU, as in the article that split is from. Libraries are told NumCPU. stint.Each, stint.Map and package par are told nothing.",
		"The article's figures, in ms: sequential 5.7 and split 6.4 on 1 core, 5.9 and 3.4 on 4 cores with 8 threads.")
	l := newNumbers(z)
	c := experiment.Case{Name: fmt.Sprintf("n=%d", z.n), Doc: "an op is a sum of ints", Reference: models.NameSequential, Ops: z.ops, Main: true}
	c.Models = l.chunks(z.chunk).Models(slices.Concat(
		[]models.Model{l.sequential(), l.split(), models.Counter(runtime.NumCPU())}, models.Peers(runtime.NumCPU()),
		models.Calls(), []models.Model{l.parRange(), l.parReduce()})...)
	return b.Run(ctx, b.OnBoth(c, claims))
}

// numbers are what is added up.
type numbers []uint64

func newNumbers(z sizes) numbers {
	r := rand.New(rand.NewPCG(9, 10))
	s := make(numbers, z.n)
	for i := range s {
		s[i] = r.Uint64()
	}
	return s
}

// sum is the loop that all models have inside.
func (s numbers) sum() uint64 {
	sum := uint64(0)
	for _, v := range s {
		sum += v
	}
	return sum
}

// chunks is the list whose items are the sums of so many numbers each.
func (s numbers) chunks(size int) models.List {
	chunks := slices.Collect(slices.Chunk(s, size))
	return models.List{N: len(chunks), Item: func(i int) uint64 { return chunks[i].sum() }, Want: s.sum()}
}

func (s numbers) sequential() models.Model {
	return models.Simple(models.NameSequential, result.Peer, "for _, v := range s { sum += v }", func(models.List) uint64 { return s.sum() })
}

// split is a goroutine and a piece a processor.
func (s numbers) split() models.Model {
	doc := "s cut into NumCPU pieces, a goroutine and a sum each, added to an atomic one at the end"
	return models.Simple(nameSplit, result.Peer, doc, func(models.List) uint64 {
		var sum atomic.Uint64
		var wg sync.WaitGroup
		for piece := range slices.Chunk(s, max(1, (len(s)+runtime.NumCPU()-1)/runtime.NumCPU())) {
			wg.Go(func() { sum.Add(piece.sum()) })
		}
		wg.Wait()
		return sum.Load()
	})
}

func (s numbers) parRange() models.Model {
	return models.Simple(nameRange, result.Ours, "par.Range, each range added to an atomic sum", func(models.List) uint64 {
		var sum atomic.Uint64
		par.Range(len(s), func(lo, hi int) { sum.Add(s[lo:hi].sum()) })
		return sum.Load()
	})
}

func (s numbers) parReduce() models.Model {
	zero := func() uint64 { return 0 }
	add := func(a, b uint64) uint64 { return a + b }
	return models.Simple(models.NameReduce, result.Ours, "par.Reduce", func(models.List) uint64 { return par.Reduce(s, zero, add, add) })
}

// The conclusions of the article.
const (
	slower = "Splitting a sum makes it slower on one processor."
	faster = "Splitting a sum makes it faster on many processors."
)

// claims are what is said of so short items.
func claims(on experiment.Names) []result.Claim {
	out := []result.Claim{experiment.AtMost(1, on.One, models.NameSequential, nameSplit, slower)}
	if on.All != "" {
		out = append(out, experiment.AtMost(1, on.All, nameSplit, models.NameSequential, faster))
	}
	return append(out, models.Unhinted(on, models.NameEach, models.NameMap, nameRange, models.NameReduce)...)
}
