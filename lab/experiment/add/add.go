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
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/par"
)

// Experiment is the experiment add.
var Experiment = experiment.New("add", "adding numbers: a loop, pieces by hand and by libraries, package par",
	sizes{n: 10_000_000, chunk: 1 << 16}, sizes{n: 1_000_000, chunk: 1 << 16}, run)

// sizes are smaller in quick runs and tests.
type sizes struct {
	n, chunk int
	ops      int // sums per sample; 0: chosen by time
}

// The models of the article. Its machine has 8 hardware threads.
const (
	threads    = 8
	nameSplit  = "split"
	nameSplit8 = "split-8"
	nameRange  = "par.Range"
)

var figures = []result.Figure{
	{Model: models.NameSequential, Text: "5.7 ms on 1 core, 5.9 on 4 with 8 threads"},
	{Model: nameSplit8, Text: "6.4 ms on 1 core, 3.4 on 4 with 8 threads"},
}

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("add", fmt.Sprintf("the sum of %d random numbers", z.n),
		"An op is a sum. sequential, split, par.Range and par.Reduce take all numbers; for the others an item is a chunk of them, cut before the time starts.",
		"par.Reduce calls a function for each number; the other models add in a loop.",
		"The article's pieces are as many as its machine has hardware threads, 8; split has runtime.NumCPU. Libraries have the limit NumCPU. stint.Each, stint.Map and package par have no option.",
		"The column switches counts how often the system takes a CPU from a thread or gives it to another; switches between goroutines on one thread are not in it.",
		"In gc=off nothing is collected while it is measured, as with GOGC=off, which the author used.")
	l := newNumbers(z)
	byHand := []models.Model{l.sequential(), l.split(nameSplit, runtime.NumCPU()), l.split(nameSplit8, threads)}
	c := experiment.Case{Name: fmt.Sprintf("n=%d", z.n), Doc: "an op is a sum of ints", Reference: models.NameSequential, Ops: z.ops, Main: true, Scheduling: true,
		Article: result.Scheduling, Table: "adding numbers", Figures: figures}
	noGC := c
	noGC.Name, noGC.NoGC, noGC.Main = "gc=off/"+c.Name, true, false
	noGC.Models = l.chunks(z.chunk).Models(byHand...)
	c.Models = l.chunks(z.chunk).Models(slices.Concat(byHand, []models.Model{models.Counter(runtime.NumCPU())}, models.Peers(runtime.NumCPU()),
		models.Calls(), []models.Model{l.parRange(), l.parReduce()})...)
	return b.Run(ctx, b.OnBoth(c, func(on experiment.Names) []result.Claim {
		return append(claims(on), models.Unhinted(on, models.NameEach, models.NameMap, nameRange, models.NameReduce)...)
	}), b.OnBoth(noGC, claims))
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

func (s numbers) sequential() models.Model {
	return models.Simple(models.NameSequential, result.Peer, "for _, v := range s { sum += v }", func(models.List) uint64 { return s.sum() })
}

// split uses a goroutine for each piece.
func (s numbers) split(name string, pieces int) models.Model {
	doc := "s cut into NumCPU pieces, a goroutine and a sum each, added to an atomic sum at the end"
	if name == nameSplit8 {
		doc = "the same with 8 pieces"
	}
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
	slower   = "Splitting a sum makes it slower on one processor."
	faster   = "Splitting a sum makes it faster on many processors."
	switches = "Work that computes cannot afford context switches: split on one processor, a sum has more of them and takes longer."
)

// claims returns the claims of the article. The harder bars are its figures.
func claims(on experiment.Names) (out []result.Claim) {
	for _, split := range []string{nameSplit, nameSplit8} {
		onOne := models.Faster(on.One, models.NameSequential, split)
		onOne.Stretch = 0.9
		out = append(out, experiment.Concludes(result.Scheduling, slower, onOne)...)
		if on.All != "" {
			onAll := models.Faster(on.All, split, models.NameSequential)
			onAll.Stretch = 0.57
			out = append(out, experiment.Concludes(result.Scheduling, faster, onAll)...)
		}
	}
	more := result.Claim{Case: on.One, Model: models.NameSequential, Unit: measure.Switches, Form: result.Difference, Than: nameSplit8}
	return append(out, experiment.Concludes(result.Scheduling, switches, more, models.Faster(on.One, models.NameSequential, nameSplit8))...)
}
