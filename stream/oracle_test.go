package stream_test

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/goroutine"
	"github.com/stint-go/stint/stream"
)

var (
	randomSeed   = flag.Uint64("stint.seed", 1, "seed of the first round of the random tests; a failure prints its seed")
	randomRounds = flag.Int("stint.rounds", 0, "rounds of each random test; 0: those of a usual run")
)

// rounds calls one for each round of a random test, on two goroutines. byDefault is the
// number of rounds without a flag. It prints the seed of a round that fails or deadlocks.
// No goroutine may be left at the end.
func rounds(t *testing.T, byDefault int, one func(t *testing.T, seed uint64)) {
	n := byDefault
	if testing.Short() {
		n /= 10
	}
	if *randomRounds > 0 {
		n = *randomRounds
	}
	const shards = 2
	t.Run("rounds", func(t *testing.T) {
		for shard := range min(shards, n) {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for i := shard; i < n; i += shards {
					seed := *randomSeed + uint64(i)
					finished := false
					defer func() {
						if !finished { // a deadlock panics
							fmt.Fprintf(os.Stderr, "%s: -stint.seed=%d -stint.rounds=1\n", t.Name(), seed)
						}
					}()
					one(t, seed)
					finished = true
					if t.Failed() {
						t.Fatalf("-stint.seed=%d -stint.rounds=1", seed)
					}
				}
			})
		}
	})
	goroutine.NoneLeft(t)
}

// A fault is the error of a record.
type fault struct{ v int }

func (e fault) Error() string { return fmt.Sprint("record ", e.v) }

// A program is a random pipeline with deterministic results, and those of the equivalent
// sequential program.
type program struct {
	text   strings.Builder // describes it in a failure
	delay  func(v int)     // in each function
	stream ints
	out    []int // of the sequential program
	err    error // and how it ends
}

// newProgram makes up to 7 stages. Each function calls delay.
func newProgram(r *rand.Rand, delay func(v int)) *program {
	p := &program{delay: delay}
	n := r.IntN(1 << r.IntN(12))
	p.out = indexes(n)
	p.source(r, n)
	for range r.IntN(8) {
		p.stage(r)
	}
	return p
}

func (p *program) note(format string, args ...any) { fmt.Fprintf(&p.text, " "+format, args...) }

func (p *program) source(r *rand.Rand, n int) {
	slow := func(yield func(int) bool) {
		for i := range n {
			p.delay(i)
			if !yield(i) {
				return
			}
		}
	}
	end := error(nil)
	if r.IntN(4) == 0 {
		end = errGone
	}
	switch r.IntN(3) {
	case 0:
		p.note("From(%d)", n)
		p.stream = stream.From(indexes(n))
		return
	case 1:
		p.note("FromSeq(%d)", n)
		p.stream = stream.FromSeq(slow)
		return
	case 2:
		p.note("Generate(%d, %v)", n, end)
		p.stream = stream.Generate(func(_ context.Context, emit func(int) bool) error { slow(emit); return end })
	}
	p.err = end
}

// stage adds a random stage, and its effect to the sequential result.
func (p *program) stage(r *rand.Rand) {
	switch r.IntN(12) {
	case 0:
		a, b := 1+r.IntN(5), r.IntN(100)
		p.note("Map(%dv+%d)", a, b)
		f := func(v int) int { p.delay(v); return (a*v + b) % 100_003 }
		p.stream = stream.Map(p.stream, f)
		p.records(func(v int, out []int) []int { return append(out, (a*v+b)%100_003) })
	case 1:
		m := 1 + r.IntN(6)
		p.note("Filter(%d)", m)
		p.stream = stream.Filter(p.stream, func(v int) bool { p.delay(v); return v%m != 0 })
		p.records(func(v int, out []int) []int {
			if v%m != 0 {
				out = append(out, v)
			}
			return out
		})
	case 2:
		if len(p.out) > 5000 {
			return
		}
		m := 1 + r.IntN(5)
		p.note("FlatMap(%d)", m)
		p.stream = stream.FlatMap(p.stream, func(v int) iter.Seq[int] {
			return func(yield func(int) bool) {
				for i := range v % m {
					p.delay(v + i)
					if !yield(v + i) {
						return
					}
				}
			}
		})
		p.records(func(v int, out []int) []int {
			for i := range v % m {
				out = append(out, v+i)
			}
			return out
		})
	case 3:
		n := r.IntN(1 << r.IntN(12))
		p.note("Take(%d)", n)
		p.stream = stream.Take(p.stream, n)
		if len(p.out) >= n {
			p.out, p.err = p.out[:n], nil
		}
	case 4:
		size, linger := 1+r.IntN(1<<r.IntN(10)), time.Duration(r.IntN(2))*100*time.Hour
		p.note("Chunk(%d, %v)", size, linger)
		p.stream = stream.Map(stream.Chunk(p.stream, size, linger), func(c []int) int { return sum(c) })
		var sums []int
		for c := range slices.Chunk(p.out, size) {
			sums = append(sums, sum(c))
		}
		p.out = sums
	case 5:
		n := 1 + r.IntN(1<<r.IntN(11))
		p.note("Buffer(%d)", n)
		p.stream = stream.Buffer(p.stream, n)
	case 6:
		p.note("Merge")
		p.stream = stream.Merge(p.stream)
	case 7, 8, 9:
		text, opts := randomLimit(r)
		p.note("ParMap(%s)", text)
		p.stream = stream.ParMap(p.stream, p.mayFail(r), opts...)
	default:
		p.note("MapErr")
		p.stream = stream.MapErr(p.stream, p.mayFail(r))
	}
}

func sum(c []int) (n int) {
	for _, v := range c {
		n += v
	}
	return n % 100_003
}

// randomLimit returns random options of a ParMap.
func randomLimit(r *rand.Rand) (text string, opts []stint.Option) {
	if r.IntN(2) == 0 {
		n := 1 + r.IntN(1<<r.IntN(9))
		text, opts = fmt.Sprintf("Limit(%d)", n), append(opts, stint.Limit(n))
	}
	if r.IntN(3) == 0 {
		n := r.IntN(1 << r.IntN(10))
		text, opts = text+fmt.Sprintf(" Queue(%d)", n), append(opts, stint.Queue(n))
	}
	return text, opts
}

// mayFail returns a function that fails for some records, perhaps.
func (p *program) mayFail(r *rand.Rand) func(context.Context, int) (int, error) {
	m, rest := math.MaxInt, 1
	if r.IntN(3) == 0 {
		m = 2 + r.IntN(1<<r.IntN(13))
		rest = r.IntN(m)
		p.note("[%d of %d]", rest, m)
	}
	if i := slices.IndexFunc(p.out, func(v int) bool { return v%m == rest && m != math.MaxInt }); i >= 0 {
		p.out, p.err = p.out[:i], fault{p.out[i]}
	}
	p.records(func(v int, out []int) []int { return append(out, v+1) })
	return func(_ context.Context, v int) (int, error) {
		p.delay(v)
		if v%m == rest && m != math.MaxInt {
			return -1, fault{v}
		}
		return v + 1, nil
	}
}

// records replaces each record by what f appends for it.
func (p *program) records(f func(v int, out []int) []int) {
	var out []int
	for _, v := range p.out {
		out = f(v, out)
	}
	p.out = out
}

// compare runs the program with a random terminal.
func (p *program) compare(t *testing.T, r *rand.Rand) {
	x := terminals[r.IntN(len(terminals))]
	var out []int
	var err error
	if r.IntN(4) == 0 { // the consumer leaves after j records
		j := 1 + r.IntN(1<<r.IntN(12))
		p.note("break(%d)", j)
		out, err = all(context.Background(), p.stream, func(n int) bool { p.delay(n); return n == j })
		if len(p.out) >= j {
			p.out, p.err = p.out[:j], nil
		}
	} else {
		p.note("%s", x.name)
		out, err = x.run(context.Background(), p.stream)
	}
	equal(t, "error", err, p.err)
	same(t, "records", out, p.out)
	if t.Failed() {
		t.Log(p.text.String())
	}
}

// A random ordered pipeline has the records and the error of the sequential program, however long
// its functions take. Half of the rounds run in bubbles, where they take time.
func TestOrderedPipelinesAreTheSequentialProgram(t *testing.T) {
	rounds(t, 3000, func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 7))
		if seed%2 == 0 {
			newProgram(r, func(v int) {
				if uint(v)%64 == 3 {
					runtime.Gosched()
				}
			}).compare(t, r)
			return
		}
		synctest.Test(t, func(t *testing.T) {
			newProgram(r, randomDelay(r)).compare(t, r)
			noneLeft(t)
		})
	})
}

// randomDelay returns a function that sleeps for some records, in a bubble.
func randomDelay(r *rand.Rand) func(v int) {
	salt, often, most := r.Uint64(), uint64(1)<<r.IntN(10), uint64(1)<<r.IntN(32)
	return func(v int) {
		h := (uint64(v)^salt)*0x9e3779b97f4a7c15>>20 ^ salt>>7
		if h%often == 0 {
			time.Sleep(time.Duration(h >> 10 % most))
		}
	}
}
