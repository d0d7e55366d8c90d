// Package add measures whether splitting the sum of many numbers, the shortest
// of all items, is worth it, on one processor and on all.
package add

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

// Experiment is the experiment add.
var Experiment = experiment.New("add", "adding numbers: a loop, halves, chunks by hand and by libraries, package par",
	sizes{n: 10_000_000, chunk: 1 << 16}, sizes{n: 1_000_000, chunk: 1 << 16}, run)

// sizes are smaller in quick runs and tests.
type sizes struct {
	n, chunk int
	ops      int // sums per sample; 0: chosen by time
}

const (
	nameSplit = "split"
	nameRange = "par.Range"
)

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("add", fmt.Sprintf("the sum of %d random numbers", z.n),
		"An op is a sum. sequential, split, par.Range and par.Reduce take all numbers; for the others an item is a chunk of them, cut before the time starts.",
		"par.Reduce calls a function for each number; the other models add in a loop.",
		"NumCPU is runtime.NumCPU, as in the article that split is from. Libraries have the limit NumCPU. stint.Each, stint.Map and package par have no option.",
		"The article's figures, in ms: sequential 5.7 and split 6.4 on 1 core, 5.9 and 3.4 on 4 cores with 8 threads.")
	l := newNumbers(z)
	c := experiment.Case{Name: fmt.Sprintf("n=%d", z.n), Doc: "an op is a sum of ints", Reference: models.NameSequential, Ops: z.ops, Main: true}
	c.Models = l.chunks(z.chunk).Models(slices.Concat(
		[]models.Model{l.sequential(), l.split(), models.Counter(runtime.NumCPU())}, models.Peers(runtime.NumCPU()),
		models.Calls(), []models.Model{l.parRange(), l.parReduce()})...)
	return b.Run(ctx, b.OnBoth(c, claims))
}

// numbers is the slice to add up.
type numbers []uint64

func newNumbers(z sizes) numbers {
	r := rand.New(rand.NewPCG(9, 10))
	s := make(numbers, z.n)
	for i := range s {
		s[i] = r.Uint64()
	}
	return s
}

// sum is the loop inside all models.
func (s numbers) sum() uint64 {
	sum := uint64(0)
	for _, v := range s {
		sum += v
	}
	return sum
}

// chunks returns a list whose items are sums of size numbers.
func (s numbers) chunks(size int) models.List {
	chunks := slices.Collect(slices.Chunk(s, size))
	return models.List{N: len(chunks), Item: func(i int) uint64 { return chunks[i].sum() }, Want: s.sum()}
}

func (s numbers) sequential() models.Model {
	return models.Simple(models.NameSequential, result.Peer, "for _, v := range s { sum += v }", func(models.List) uint64 { return s.sum() })
}

// split uses a goroutine and a chunk per processor.
func (s numbers) split() models.Model {
	doc := "s cut into NumCPU chunks, a goroutine and a sum each, added to an atomic sum at the end"
	return models.Simple(nameSplit, result.Peer, doc, func(models.List) uint64 {
		var sum atomic.Uint64
		var wg sync.WaitGroup
		for chunk := range slices.Chunk(s, max(1, (len(s)+runtime.NumCPU()-1)/runtime.NumCPU())) {
			wg.Go(func() { sum.Add(chunk.sum()) })
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

// claims returns the claims about a sum.
func claims(on experiment.Names) []result.Claim {
	out := []result.Claim{experiment.AtMost(1, on.One, models.NameSequential, nameSplit, slower)}
	if on.All != "" {
		out = append(out, experiment.AtMost(1, on.All, nameSplit, models.NameSequential, faster))
	}
	return append(out, models.Unhinted(on, models.NameEach, models.NameMap, nameRange, models.NameReduce)...)
}
