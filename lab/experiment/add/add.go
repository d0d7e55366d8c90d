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
var Experiment = experiment.New("add", "adding numbers: a loop, pieces by hand and by libraries, package par",
	10_000_000, 1_000_000, run)

// chunk is the length of the items of models that take a list.
const chunk = 1 << 16

// The names of models that claims are about.
const (
	nameSplit  = "split"
	nameSplit8 = "split-8"
	nameRange  = "par.Range"
)

var figures = []result.Figure{
	{Model: models.NameSequential, Text: "5.7 ms on 1 core, 5.9 on 4 with 8 threads"},
	{Model: nameSplit8, Text: "6.4 ms on 1 core, 3.4 on 4 with 8 threads"},
}

func run(ctx context.Context, s *experiment.Session, n int) (*result.Result, error) {
	b := s.NewBench("add", fmt.Sprintf("the sum of %d random numbers", n),
		"An op is a sum. sequential, split, par.Range and par.Reduce take all numbers; for the others an item is a chunk of them, cut before the time starts.",
		"par.Reduce calls a function for each number; the other models add in a loop.",
		"The article's pieces are as many as its machine has hardware threads, 8; split has runtime.NumCPU.",
		"Libraries have the limit NumCPU. stint.Each, stint.Map and package par have no option.",
		models.NoteSwitches,
		models.NoteNoGC)
	l := newNumbers(n)
	c := experiment.Case{Name: fmt.Sprintf("n=%d", n), Doc: "an op is a sum of ints", Reference: models.NameSequential, Main: true, Scheduling: true,
		Article: result.Scheduling, Table: "adding numbers", Figures: figures}
	noGC := c
	noGC.Name, noGC.NoGC, noGC.Main = "gc=off/"+c.Name, true, false
	noGC.Models = l.chunks(chunk).Models(l.byHand()...)
	c.Models = l.chunks(chunk).Models(slices.Concat(l.byHand(), []models.Model{models.Counter(runtime.NumCPU())}, models.Peers(runtime.NumCPU()),
		models.Calls(), l.ours())...)
	return b.Run(ctx, b.OnBoth(c, func(on experiment.Names) []result.Claim {
		return append(claims(on), models.Unhinted(on, models.NameEach, models.NameMap, nameRange, models.NameReduce)...)
	}), b.OnBoth(noGC, claims))
}

// numbers is the slice to add up.
type numbers []uint64

func newNumbers(n int) numbers {
	r := rand.New(rand.NewPCG(9, 10))
	s := make(numbers, n)
	for i := range s {
		s[i] = r.Uint64()
	}
	return s
}

// sum is the loop inside all models.
func (s numbers) sum() (sum uint64) {
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

// byHand are the models of the article.
func (s numbers) byHand() []models.Model {
	return []models.Model{
		models.Simple(models.NameSequential, result.Peer, "for _, v := range s { sum += v }", func(models.List) uint64 { return s.sum() }),
		s.split(nameSplit, "NumCPU", runtime.NumCPU()), s.split(nameSplit8, "8", 8),
	}
}

// split uses a goroutine for each piece.
func (s numbers) split(name, number string, pieces int) models.Model {
	doc := "s cut into " + number + " pieces, a goroutine and a sum each, added to an atomic sum at the end"
	return models.Simple(name, result.Peer, doc, func(models.List) uint64 {
		var sum atomic.Uint64
		var wg sync.WaitGroup
		for piece := range slices.Chunk(s, max(1, (len(s)+pieces-1)/pieces)) {
			wg.Go(func() { sum.Add(piece.sum()) })
		}
		wg.Wait()
		return sum.Load()
	})
}

// ours are the models of package par.
func (s numbers) ours() []models.Model {
	zero := func() uint64 { return 0 }
	add := func(a, b uint64) uint64 { return a + b }
	return []models.Model{
		models.Simple(nameRange, result.Ours, "par.Range, each range added to an atomic sum", func(models.List) uint64 {
			var sum atomic.Uint64
			par.Range(len(s), func(lo, hi int) { sum.Add(s[lo:hi].sum()) })
			return sum.Load()
		}),
		models.Simple(models.NameReduce, result.Ours, "par.Reduce", func(models.List) uint64 { return par.Reduce(s, zero, add, add) }),
	}
}

// claims returns the claims of the article.
func claims(on experiment.Names) []result.Claim {
	says := func(conclusion string, claims ...[]result.Claim) []result.Claim {
		return models.Says(result.Scheduling, conclusion, claims...)
	}
	return slices.Concat(
		says("Splitting a sum makes it 10 % slower on one processor.",
			models.One(1/1.1, on, models.NameSequential, nameSplit), models.One(1/1.1, on, models.NameSequential, nameSplit8)),
		says("Splitting a sum makes it 43 % faster on many processors.",
			models.All(0.57, on, nameSplit, models.NameSequential), models.All(0.57, on, nameSplit8, models.NameSequential)),
		says("Work that computes cannot afford context switches between goroutines: on one processor it takes longer with several.",
			models.One(1, on, models.NameSequential, nameSplit8)))
}
