package stream_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// stressRounds is the default number of rounds of TestStress. Before a change of the boundaries,
// run 100,000 under the race detector:
//
//	go test -race -run=TestStress -stint.rounds=100000 ./stream
const stressRounds = 2000

// TestStress runs random pipelines with every kind of stage. They run to the end, or stop
// early: the context is cancelled at a random moment or record, or a random function
// breaks, fails, panics or calls Goexit. Each pipeline must return the cause, and leave no
// goroutine and no held permit. Every fourth round runs outside a bubble; in a bubble, a
// lost wake-up is a deadlock.
func TestStress(t *testing.T) {
	rounds(t, stressRounds, func(t *testing.T, seed uint64) {
		if seed%4 == 0 {
			newStress(t, seed, false).round()
			return
		}
		synctest.Test(t, func(t *testing.T) {
			s := newStress(t, seed, true)
			s.round()
			noneLeft(t)
			s.limitsAreFree()
		})
	})
}

// patience is when the context of a silent pipeline ends.
const patience = 20 * time.Millisecond

// stress is one round.
type stress struct {
	t       *testing.T
	r       *rand.Rand // while the pipeline is made
	bubble  bool
	text    strings.Builder
	limiter *stint.Limiter // shared by some of the ParMaps
	pool    *stint.Pool
	delay   func(v int)

	// One call of a random function ends the pipeline by fault.
	calls atomic.Int64
	fatal int64 // which
	fault func() error
	fired atomic.Bool

	sources int
	endless bool
	pooled  bool // workers of the pool stay for a while
}

func newStress(t *testing.T, seed uint64, bubble bool) *stress {
	r := rand.New(rand.NewPCG(seed, 3))
	s := &stress{t: t, r: r, bubble: bubble, fatal: -1}
	s.limiter = stint.Limit(1 + r.IntN(4))
	s.pool = stint.NewPool(stint.Limit(1 + r.IntN(4)))
	s.delay = func(v int) {
		if uint(v)%32 == 3 {
			runtime.Gosched()
		}
	}
	if bubble {
		s.delay = randomDelay(r)
	}
	return s
}

func (s *stress) note(format string, args ...any) { fmt.Fprintf(&s.text, " "+format, args...) }

// at is called by every function of the pipeline. It fails when the round says so.
func (s *stress) at(v int) error {
	s.delay(v)
	if s.calls.Add(1) == s.fatal {
		s.fired.Store(true)
		return s.fault()
	}
	return nil
}

// must is at for functions that return no error.
func (s *stress) must(v int) int {
	if err := s.at(v); err != nil {
		panic(err)
	}
	return v
}

func (s *stress) par(_ context.Context, v int) (int, error) { return v, s.at(v) }

// source returns a stream of distinct records, and the records. It may be silent after some.
func (s *stress) source() (ints, []int) {
	from, n := s.sources<<11, s.r.IntN(1<<s.r.IntN(10))
	s.sources++
	want := indexes(from + n)[from:]
	silent, endless := false, s.r.IntN(6) == 0
	if endless {
		s.endless, silent = true, s.r.IntN(3) == 0
	}
	records := func(yield func(int) bool) {
		for i := 0; i < n || endless && !silent; i++ {
			s.pace(i)
			if !yield(s.must(from + i)) {
				return
			}
		}
	}
	kind := s.r.IntN(4)
	s.note("source(%d: %d, endless %v, silent %v)", kind, n, endless, silent)
	switch {
	case kind == 0 && !endless:
		return stream.From(want), want
	case kind == 1 && !silent:
		return stream.FromSeq(records), want
	case kind == 2 && !silent:
		return stream.FlatMap(stream.From([]int{0}), func(int) iter.Seq[int] { return records }), want
	}
	return stream.Generate(func(ctx context.Context, emit func(int) bool) error {
		records(emit)
		if silent {
			<-ctx.Done()
		}
		return nil
	}), want
}

// pace lets the time of a bubble pass, which stands still while a goroutine runs.
func (s *stress) pace(i int) {
	if s.endless && s.bubble && i%64 == 63 {
		time.Sleep(100 * time.Microsecond)
	}
}

// tree returns a stream, and its records in some order.
func (s *stress) tree(depth int) (out ints, want []int) {
	if depth > 0 && s.r.IntN(4) == 0 {
		s.note("Merge(")
		var ss []ints
		for range 1 + s.r.IntN(3) {
			one, more := s.tree(depth - 1)
			ss, want = append(ss, one), append(want, more...)
		}
		s.note(")")
		out = stream.Merge(ss...)
	} else {
		out, want = s.source()
	}
	for range s.r.IntN(4) {
		out = s.stage(out)
	}
	return out, want
}

// stage adds a stage that keeps all records.
func (s *stress) stage(in ints) ints {
	r := s.r
	switch r.IntN(9) {
	case 0:
		s.note("Map")
		return stream.Map(in, s.must)
	case 1:
		s.note("Filter")
		return stream.Filter(in, func(v int) bool { s.must(v); return true })
	case 2:
		s.note("MapErr")
		return stream.MapErr(in, s.par)
	case 3:
		size, linger := 1+r.IntN(1<<r.IntN(10)), time.Duration(r.IntN(4)-1)*time.Millisecond
		s.note("Chunk(%d,%v)", size, linger)
		return flat(stream.Chunk(in, size, linger))
	case 4:
		n := 1 + r.IntN(1<<r.IntN(11))
		s.note("Buffer(%d)", n)
		return stream.Buffer(in, n)
	case 5:
		text, opts := randomLimit(r)
		s.note("ParMapKey(%s)", text)
		return stream.ParMapKey(in, func(v int) int { return s.must(v) % 7 }, s.par, opts...)
	default:
		text, opts := randomLimit(r)
		switch r.IntN(5) {
		case 0:
			text, opts = "shared", []stint.Option{s.limiter}
		case 1:
			text, opts = "pool", []stint.Option{s.pool}
			s.pooled = true
		}
		if r.IntN(2) == 0 {
			text, opts = text+" Unordered", append(opts, stint.Unordered())
		}
		s.note("ParMap(%s)", text)
		return stream.ParMap(in, s.par, opts...)
	}
}

// round makes a pipeline, runs it, and checks how it ends.
func (s *stress) round() {
	out, want := s.tree(2)
	defer s.pool.Close()
	defer func() {
		if s.t.Failed() {
			s.t.Log(s.text.String())
		}
	}()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if s.endless { // and perhaps silent
		defer time.AfterFunc(patience, func() { cancel(errGone) }).Stop()
	}
	moment := int64(1 + s.r.IntN(1<<s.r.IntN(13)))
	leave := math.MaxInt
	var each func(n int) bool // called with the number of records so far
	var wg sync.WaitGroup
	end := s.r.IntN(7)
	s.note("; end %d", end)
	switch end {
	case 0: // by itself
	case 1:
		wg.Go(func() { s.sleep(min(moment*moment, 1<<20)); cancel(errGone) })
	case 2:
		each = func(n int) bool {
			if int64(n) == moment {
				cancel(errGone)
			}
			s.delay(n)
			return false
		}
	case 3:
		leave = int(moment)
		each = func(n int) bool { s.delay(n); return n == leave }
	default:
		s.fatal = moment
		s.fault = [...]func() error{
			func() error { return errBoom }, func() error { panic(errBoom) }, func() error { runtime.Goexit(); return nil },
		}[end-4]
	}
	e := s.runs(ctx, out, each)
	ended := ctx.Err() != nil
	wg.Wait()
	s.check(e, want, leave, ended)
}

// An ending is how a pipeline has ended.
type ending struct {
	out      []int
	err      error
	panicked any
	gone     bool // by a Goexit on the consumer's goroutine
}

// runs runs a stream with a random terminal on a goroutine of its own.
func (s *stress) runs(ctx context.Context, in ints, each func(n int) (leave bool)) ending {
	e := ending{gone: true}
	byAll := each != nil || s.r.IntN(2) == 0
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if e.panicked = recover(); e.panicked != nil {
				e.gone = false
			}
		}()
		if byAll {
			e.out, e.err = all(ctx, in, each)
		} else {
			e.out, e.err = stream.Collect(ctx, in)
		}
		e.gone = false
	}()
	<-done
	if s.bubble && !s.pooled {
		noneLeft(s.t)
	}
	return e
}

// check expects the cause of the end, and some of the records, each once: all of them, or as many
// as the loop wanted, if there was no cause. ended says that the context had ended.
func (s *stress) check(e ending, want []int, leave int, ended bool) {
	err, fired := e.err, s.fired.Load()
	switch p, isPanic := e.panicked.(*stint.PanicError); {
	case e.panicked != nil && (!isPanic || !fired || p.Value != any(errBoom)):
		s.t.Errorf("panic %v", e.panicked)
	case e.panicked != nil, e.gone && fired:
	case errors.Is(err, errGone) && ended:
	case (errors.Is(err, errBoom) || errors.Is(err, stint.ErrGoexit)) && fired:
	case err != nil || e.gone || fired || s.endless && len(e.out) != leave:
		s.t.Errorf("error %v, gone %v, fault %v, context ended %v", err, e.gone, fired, ended)
	case !s.endless:
		equal(s.t, "records", len(e.out), min(leave, len(want)))
	}
	if s.endless {
		return
	}
	out, want := sorted(e.out), sorted(want)
	for i, v := range out {
		if _, ok := slices.BinarySearch(want, v); !ok || i > 0 && out[i-1] == v {
			s.t.Errorf("record %d is not one of these, or came twice", v)
			return
		}
	}
}

// sleep lets time pass, or other goroutines run.
func (s *stress) sleep(n int64) {
	if s.bubble {
		time.Sleep(time.Duration(n) * 20)
		return
	}
	for range n % 2000 {
		runtime.Gosched()
	}
}

// limitsAreFree expects all permits to be free.
func (s *stress) limitsAreFree() {
	equal(s.t, "the limiter at the end", usage(s.limiter), [3]int{s.limiter.Current()})
	st := s.pool.Stats()
	equal(s.t, "what the pool has", st.Running+st.Queued+st.Waiting+st.Workers+st.Idle, 0)
}
