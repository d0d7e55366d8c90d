package stream_test

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
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

// A program is a random pipeline, and what the equivalent sequential program returns.
type program struct {
	*surroundings
	stream ints
	out    []int // of the sequential program
	err    error // and how it ends

	endless   bool // out is not known
	unordered bool // the records of out come in any order
}

// surroundings are what the parts of a program share.
type surroundings struct {
	r     *rand.Rand
	mixed bool              // streams are merged, and results unordered; no record fails
	at    func(v int) error // called by each function
	pace  func(i int)       // called by each source

	text    strings.Builder // describes the program in a failure
	limiter *stint.Limiter  // shared by some of the ParMaps
	pool    *stint.Pool
	pooled  bool // workers of the pool stay for a while
}

func (p *program) note(format string, args ...any) { fmt.Fprintf(&p.text, " "+format, args...) }

// must is at for functions that return no error.
func (p *program) must(v int) {
	if err := p.at(v); err != nil {
		panic(err)
	}
}

// build makes the pipeline.
func (p *program) build(depth int) {
	if p.mixed && depth > 0 && p.r.IntN(4) == 0 {
		p.note("Merge(")
		var parts []ints
		for range 1 + p.r.IntN(3) {
			part := &program{surroundings: p.surroundings}
			part.build(depth - 1)
			parts, p.out = append(parts, part.stream), append(p.out, part.out...)
			p.endless = p.endless || part.endless
			p.unordered = p.unordered || part.unordered || len(parts) > 1
		}
		p.note(")")
		p.stream = stream.Merge(parts...)
	} else {
		p.source()
	}
	for range p.r.IntN(6) {
		kinds[p.r.IntN(len(kinds))](p)
	}
}

// source may be endless, or silent after its records.
func (p *program) source() {
	n, kind := p.r.IntN(1<<p.r.IntN(12)), p.r.IntN(5)
	p.endless = p.mixed && p.r.IntN(6) == 0
	silent := p.endless && p.r.IntN(3) == 0
	p.note("source(%d: %d, endless %v, silent %v)", kind, n, p.endless, silent)
	p.out = indexes(n)
	records := func(yield func(int) bool) {
		for i := 0; i < n || p.endless && !silent; i++ {
			p.pace(i)
			if p.must(i); !yield(i) {
				return
			}
		}
	}
	switch {
	case kind == 0 && !p.endless:
		p.stream = stream.From(p.out)
		return
	case kind == 1 && !silent:
		p.stream = stream.FromSeq(records)
		return
	case kind == 2 && !silent:
		p.stream = stream.FlatMap(stream.From([]int{0}), func(int) iter.Seq[int] { return records })
		return
	case kind == 3 && !p.mixed:
		p.err = fault{-1}
	}
	err := p.err
	p.stream = stream.Generate(func(ctx context.Context, emit func(int) bool) error {
		if records(emit); silent {
			<-ctx.Done()
		}
		return err
	})
}

// kinds add a stage, and its effect to the result of the sequential program.
var kinds = []func(p *program){
	(*program).multiply, (*program).sift, (*program).flatten, (*program).take, (*program).chunk,
	(*program).buffer, (*program).mapErr, (*program).parMap, (*program).parMap, (*program).parMap, (*program).parMapKey,
}

func (p *program) multiply() {
	a, b := 1+p.r.IntN(5), p.r.IntN(100)
	p.note("Map(%dv+%d)", a, b)
	f := func(v int) int { return (a*v + b) % 100_003 }
	p.stream = stream.Map(p.stream, func(v int) int { p.must(v); return f(v) })
	p.records(func(v int, out []int) []int { return append(out, f(v)) })
}

func (p *program) sift() {
	m := 1 + p.r.IntN(6)
	p.note("Filter(%d)", m)
	p.stream = stream.Filter(p.stream, func(v int) bool { p.must(v); return v%m != 0 })
	p.records(func(v int, out []int) []int {
		if v%m == 0 {
			return out
		}
		return append(out, v)
	})
}

func (p *program) flatten() {
	m := 1 + p.r.IntN(5)
	if len(p.out) > 5000 {
		return
	}
	p.note("FlatMap(%d)", m)
	p.stream = stream.FlatMap(p.stream, func(v int) iter.Seq[int] {
		return func(yield func(int) bool) {
			for i := range v % m {
				if p.must(v + i); !yield(v + i) {
					return
				}
			}
		}
	})
	p.records(func(v int, out []int) []int { return append(out, indexes(v + v%m)[v:]...) })
}

func (p *program) take() {
	if p.mixed {
		return
	}
	n := p.r.IntN(1 << p.r.IntN(12))
	p.note("Take(%d)", n)
	p.stream = stream.Take(p.stream, n)
	if len(p.out) >= n {
		p.out, p.err = p.out[:n], nil
	}
}

func (p *program) chunk() {
	size, linger := 1+p.r.IntN(1<<p.r.IntN(10)), time.Duration(p.r.IntN(2))*100*time.Hour
	if p.mixed {
		linger = time.Duration(p.r.IntN(4)-1) * time.Millisecond
		p.stream = flat(stream.Chunk(p.stream, size, linger))
	} else {
		p.stream = stream.Map(stream.Chunk(p.stream, size, linger), sum)
		var sums []int
		for c := range slices.Chunk(p.out, size) {
			sums = append(sums, sum(c))
		}
		p.out = sums
	}
	p.note("Chunk(%d, %v)", size, linger)
}

func sum(c []int) (n int) {
	for _, v := range c {
		n += v
	}
	return n % 100_003
}

func (p *program) buffer() {
	n := 1 + p.r.IntN(1<<p.r.IntN(11))
	p.note("Buffer(%d)", n)
	p.stream = stream.Buffer(p.stream, n)
}

func (p *program) mapErr() {
	p.note("MapErr")
	p.stream = stream.MapErr(p.stream, p.mayFail())
}

func (p *program) parMap() {
	opts := p.options("ParMap")
	p.stream = stream.ParMap(p.stream, p.mayFail(), opts...)
}

func (p *program) parMapKey() {
	opts := p.options("ParMapKey")
	p.stream = stream.ParMapKey(p.stream, func(v int) int { p.must(v); return v % 7 }, p.mayFail(), opts...)
}

// options returns random options of a ParMap.
func (p *program) options(stage string) (opts []stint.Option) {
	p.note("%s(", stage)
	add := func(what string, o stint.Option) { p.note("%s", what); opts = append(opts, o) }
	switch n := 1 + p.r.IntN(1<<p.r.IntN(9)); p.r.IntN(5) {
	case 0, 1:
		add(fmt.Sprintf("Limit(%d)", n), stint.Limit(n))
	case 2:
		add("shared", p.limiter)
	case 3:
		add("pool", p.pool)
		p.pooled = true
	}
	if p.r.IntN(3) == 0 {
		n := p.r.IntN(1 << p.r.IntN(10))
		add(fmt.Sprintf("Queue(%d)", n), stint.Queue(n))
	}
	if p.mixed && p.r.IntN(2) == 0 {
		add("Unordered", stint.Unordered())
		p.unordered = true
	}
	p.note(")")
	return opts
}

// mayFail returns a function that adds 1, and fails for some records, perhaps.
func (p *program) mayFail() func(context.Context, int) (int, error) {
	bad := func(int) bool { return false }
	if !p.mixed && p.r.IntN(3) == 0 {
		m := 2 + p.r.IntN(1<<p.r.IntN(13))
		rest := p.r.IntN(m)
		p.note("[%d of %d]", rest, m)
		bad = func(v int) bool { return v%m == rest }
	}
	if i := slices.IndexFunc(p.out, bad); i >= 0 {
		p.out, p.err = p.out[:i], fault{p.out[i]}
	}
	p.records(func(v int, out []int) []int { return append(out, v+1) })
	return func(_ context.Context, v int) (int, error) {
		if err := p.at(v); err != nil {
			return -1, err
		}
		if bad(v) {
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
