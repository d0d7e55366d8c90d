// Package add measures the sum of many numbers, whole and in pieces, under the names of the article on scheduling:
//
//	GOGC=off go test -cpu 1 -run none -bench . -benchtime 3s
//
// An op is the sum of all. Every model adds by the function sum: the place of a loop in a program alone may double
// its time, which BenchmarkPlace shows, and would be taken for the cost of goroutines.
package add

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-go/stint/lab/bench"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/par"
)

var (
	length     = flag.Int("numbers", 10_000_000, "numbers to add")
	goroutines = flag.Int("goroutines", runtime.NumCPU(), "goroutines of BenchmarkConcurrent, and limit of libraries")
)

func TestMain(m *testing.M) { bench.Main(m) }

func BenchmarkSequential(b *testing.B)      { measure(b, sum) }
func BenchmarkConcurrent(b *testing.B)      { measure(b, pieces(*goroutines)) }
func BenchmarkSequentialAgain(b *testing.B) { measure(b, sum) }
func BenchmarkConcurrentAgain(b *testing.B) { measure(b, pieces(*goroutines)) }

// BenchmarkNothing has the goroutines of BenchmarkConcurrent, and no numbers.
func BenchmarkNothing(b *testing.B) {
	add := pieces(*goroutines)
	bench.Scheduled(b, 0, func() int { return add(nil) })
}

// BenchmarkPieces shows how many goroutines it takes until their number is felt.
func BenchmarkPieces(b *testing.B) {
	for _, n := range []int{1, 2, 8, 64, 1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("pieces=%d", n), func(b *testing.B) { measure(b, pieces(n)) })
	}
}

// BenchmarkAdd is package par, which takes numbers or ranges, and libraries, which take chunks of 65,536 numbers.
func BenchmarkAdd(b *testing.B) {
	b.Run("model=par.Range", func(b *testing.B) {
		measure(b, func(s []int) int {
			var total atomic.Int64
			par.Range(len(s), func(lo, hi int) { total.Add(int64(sum(s[lo:hi]))) })
			return int(total.Load())
		})
	})
	b.Run("model=par.Reduce", func(b *testing.B) {
		plus := func(a, b int) int { return a + b }
		measure(b, func(s []int) int { return par.Reduce(s, func() int { return 0 }, plus, plus) })
	})
	models.Each(b, "model=", models.Libraries(*goroutines), func(b *testing.B, m models.Model) {
		chunks := slices.Collect(slices.Chunk(numbers(), 1<<16))
		list := models.Indexes(len(chunks))
		measure(b, func([]int) int {
			return int(m(list, func(i float64) uint64 { return uint64(sum(chunks[int(i)])) }))
		})
	})
}

// BenchmarkPlace reports how long the slowest copy of a loop takes beside the fastest, each at its best, for numbers that
// are in the cache.
func BenchmarkPlace(b *testing.B) {
	s := numbers()[:min(10_000, len(numbers()))]
	want, best := sum(s), slices.Repeat([]time.Duration{time.Hour}, 8)
	for b.Loop() {
		for i := range best {
			start := time.Now()
			if got := copies(i, s); got != want {
				b.Fatalf("the sum is %d, want %d", got, want)
			}
			best[i] = min(best[i], time.Since(start))
		}
	}
	b.ReportMetric(float64(slices.Max(best))/float64(slices.Min(best)), "slowest/fastest")
}

func measure(b *testing.B, add func([]int) int) {
	s := numbers()
	bench.Scheduled(b, sum(s), func() int { return add(s) })
}

// numbers returns the list, which is made once.
var numbers = sync.OnceValue(func() []int {
	random, s := rand.New(rand.NewPCG(9, 10)), make([]int, bench.Short(*length, 100_000))
	for i := range s {
		s[i] = random.IntN(10_000_000)
	}
	return s
})

//go:noinline
func sum(s []int) (v int) {
	for _, n := range s {
		v += n
	}
	return v
}

// pieces returns the article's model: n pieces of equal length, the last one longer, and a goroutine for each.
func pieces(n int) func([]int) int {
	return func(s []int) int {
		return int(models.Sum(n, func(i int) uint64 { return uint64(sum(models.Piece(s, i, n))) }))
	}
}

// copies adds by one of eight copies of the loop of sum. They differ in nothing but their place: in some, the instructions
// of the loop are in two lines of the cache.
//
//go:noinline
func copies(place int, s []int) (v int) {
	switch place {
	case 0:
		for _, n := range s {
			v += n
		}
	case 1:
		for _, n := range s {
			v += n
		}
	case 2:
		for _, n := range s {
			v += n
		}
	case 3:
		for _, n := range s {
			v += n
		}
	case 4:
		for _, n := range s {
			v += n
		}
	case 5:
		for _, n := range s {
			v += n
		}
	case 6:
		for _, n := range s {
			v += n
		}
	default:
		for _, n := range s {
			v += n
		}
	}
	return v
}
