package stream_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// A random ordered pipeline has the records and the error of the sequential program, however long
// its functions take. Half of the rounds run in bubbles, where they take time.
func TestOrderedPipelinesAreTheSequentialProgram(t *testing.T) {
	rounds(t, 600, func(t *testing.T, seed uint64) { newStress(t, seed, seed%2 == 1, false).test() })
}

// Random pipelines with every kind of stage run to the end, or stop early: the context is
// cancelled at a random moment or record, or a random function breaks, fails, panics or calls
// Goexit. Each pipeline must return the cause, and leave no goroutine and no held permit. Every
// fourth round runs outside a bubble; in a bubble, a lost wake-up is a deadlock. Before a change
// of the boundaries, run 100,000 rounds under the race detector:
//
//	go test -race -run=TestStress -stint.rounds=100000 ./stream
func TestStress(t *testing.T) {
	rounds(t, 1000, func(t *testing.T, seed uint64) { newStress(t, seed, seed%4 != 0, true).test() })
}

// patience is when the context of a silent pipeline ends.
const patience = 20 * time.Millisecond

// stress is one round.
type stress struct {
	t      *testing.T
	p      *program
	bubble bool
	delay  func(v int)

	// One call of a random function ends the pipeline by fault.
	calls atomic.Int64
	fatal int64 // which
	fault func() error
	fired atomic.Bool
}

func newStress(t *testing.T, seed uint64, bubble, mixed bool) *stress {
	r := rand.New(rand.NewPCG(seed, 3))
	s := &stress{t: t, bubble: bubble, fatal: -1}
	s.p = &program{surroundings: &surroundings{r: r, mixed: mixed, at: s.at, pace: s.pace}}
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

// at is called by every function of the pipeline. It fails when the round says so.
func (s *stress) at(v int) error {
	s.delay(v)
	if s.calls.Add(1) == s.fatal {
		s.fired.Store(true)
		return s.fault()
	}
	return nil
}

// pace lets the time of a bubble pass, which stands still while a goroutine runs.
func (s *stress) pace(i int) {
	if s.bubble && s.p.mixed && i%64 == 63 {
		time.Sleep(100 * time.Microsecond)
	}
}

// test runs the round.
func (s *stress) test() {
	if !s.bubble {
		s.round()
		return
	}
	synctest.Test(s.t, func(t *testing.T) {
		s.t = t
		s.round()
		noneLeft(t)
		equal(t, "the limiter at the end", usage(s.p.limiter), [3]int{s.p.limiter.Current()})
		st := s.p.pool.Stats()
		equal(t, "what the pool has", st.Running+st.Queued+st.Waiting+st.Workers+st.Idle, 0)
	})
}

// round makes a pipeline, runs it, and checks how it ends.
func (s *stress) round() {
	p, r := s.p, s.p.r
	p.limiter = stint.Limit(1 + r.IntN(4))
	p.pool = stint.NewPool(stint.Limit(1 + r.IntN(4)))
	defer p.pool.Close()
	p.build(2)
	defer func() {
		if s.t.Failed() {
			s.t.Log(p.text.String())
		}
	}()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if p.endless { // and perhaps silent
		defer time.AfterFunc(patience, func() { cancel(errGone) }).Stop()
	}
	moment := int64(1 + r.IntN(1<<r.IntN(13)))
	leave := math.MaxInt
	var each func(n int) bool // called with the number of records so far
	var wg sync.WaitGroup
	end := r.IntN(7)
	if !p.mixed {
		end = r.IntN(4) / 3 // by itself, or by a break
	}
	p.note("; end %d", end)
	switch end {
	case 0: // by itself
	case 1:
		leave = int(moment)
		each = func(n int) bool { s.delay(n); return n == leave }
	case 2:
		wg.Go(func() { s.sleep(min(moment*moment, 1<<20)); cancel(errGone) })
	case 3:
		each = func(n int) bool {
			if int64(n) == moment {
				cancel(errGone)
			}
			s.delay(n)
			return false
		}
	default:
		s.fatal = moment
		s.fault = [...]func() error{
			func() error { return errBoom }, func() error { panic(errBoom) }, func() error { runtime.Goexit(); return nil },
		}[end-4]
	}
	e := s.runs(ctx, each)
	ended := ctx.Err() != nil
	wg.Wait()
	s.check(e, leave, ended)
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

// An ending is how a pipeline has ended.
type ending struct {
	out      []int
	err      error
	panicked any
	gone     bool // by a Goexit on the consumer's goroutine
}

// runs runs the pipeline with a random terminal on a goroutine of its own.
func (s *stress) runs(ctx context.Context, each func(n int) (leave bool)) ending {
	e, x := ending{gone: true}, terminals[s.p.r.IntN(len(terminals))]
	e.panicked = leaving(func() {
		if each != nil {
			e.out, e.err = all(ctx, s.p.stream, each)
		} else {
			e.out, e.err = x.run(ctx, s.p.stream)
		}
		e.gone = false
	})
	e.gone = e.gone && e.panicked == nil
	if s.bubble && !s.p.pooled {
		noneLeft(s.t)
	}
	return e
}

// check expects the cause of the end, or that of the sequential program, and the records of that:
// all of them, or as many as the loop wanted, or, if there was a cause, some of them.
func (s *stress) check(e ending, leave int, ended bool) {
	want, wantErr := s.p.out, s.p.err
	if leave <= len(want) {
		want, wantErr = want[:leave], nil
	}
	err, fired, complete := e.err, s.fired.Load(), false
	switch p, isPanic := e.panicked.(*stint.PanicError); {
	case e.panicked != nil && (!isPanic || !fired || p.Value != any(errBoom)):
		s.t.Errorf("panic %v", e.panicked)
	case e.panicked != nil, e.gone && fired:
	case errors.Is(err, errGone) && ended:
	case (errors.Is(err, errBoom) || errors.Is(err, stint.ErrGoexit)) && fired:
	case err != wantErr || e.gone || fired || s.p.endless && len(e.out) != leave:
		s.t.Errorf("error %v, want %v; gone %v, fault %v, context ended %v", err, wantErr, e.gone, fired, ended)
	default:
		complete = true
	}
	switch out := e.out; {
	case s.p.endless:
	case s.p.unordered:
		s.some(out, s.p.out)
		if complete {
			equal(s.t, "records", len(out), len(want))
		}
	case complete:
		same(s.t, "records", out, want)
	default: // Reduce and Collect return those before the end
		same(s.t, "first records", out, want[:min(len(out), len(want))])
	}
}

// some fails the test unless out has some of the records of want, in any order.
func (s *stress) some(out, want []int) {
	left := map[int]int{}
	for _, v := range want {
		left[v]++
	}
	for _, v := range out {
		if left[v]--; left[v] < 0 {
			s.t.Errorf("record %d is not one of these, or came too often", v)
			return
		}
	}
}
