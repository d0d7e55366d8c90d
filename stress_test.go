package stint_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

var (
	stressSeed   = flag.Uint64("stint.seed", 1, "seed of the first round of the stress tests; a failure names the one to give")
	stressRounds = flag.Int("stint.rounds", 2000, "rounds of the stress tests")
)

// TestStress mixes everything that may happen to a pool, in random order: tasks
// that are started, fail, panic, exit, start others and wait for them, groups that
// are cancelled, loops and sequences, a limit that changes, workers that expire,
// and the end. Then it counts. Every other round runs in a bubble, where workers
// have the time to expire and a lost wake-up is a deadlock.
func TestStress(t *testing.T) {
	for i := range *stressRounds {
		seed := *stressSeed + uint64(i)
		finished := false
		defer func() {
			if !finished { // a deadlock panics
				fmt.Fprintf(os.Stderr, "TestStress: -stint.seed=%d -stint.rounds=1\n", seed)
			}
		}()
		if seed%2 == 0 {
			newStress(t, seed, false).round()
		} else {
			synctest.Test(t, func(t *testing.T) { newStress(t, seed, true).round() })
		}
		finished = true
		if t.Failed() {
			t.Fatalf("-stint.seed=%d -stint.rounds=1", seed)
		}
	}
	noGoroutines(t)
}

// stress is one round.
type stress struct {
	t       *testing.T
	seed    uint64
	bubble  bool
	limiter *stint.Limiter
	pool    *stint.Pool
	largest int  // of the limits of this round
	seqs    bool // sequences run on the pool: its Dropped cannot be foretold

	now, top         atomic.Int32 // tasks at work: those that wait for others are not
	began, accepted  atomic.Int64
	panics, expected atomic.Int64 // calls of OnPanic, and those there should be

	mu       sync.Mutex
	rejected []*stressTask
}

type stressTask struct{ began atomic.Int32 }

func newStress(t *testing.T, seed uint64, bubble bool) *stress {
	r := rand.New(rand.NewPCG(seed, 0))
	s := &stress{t: t, seed: seed, bubble: bubble, largest: 1 + r.IntN(5), seqs: r.IntN(3) == 0}
	s.limiter = stint.Limit(s.largest)
	s.pool = stint.NewPool(s.limiter, stint.Queue(r.IntN(6)*r.IntN(20)), stint.OnPanic(func(*stint.PanicError) { s.panics.Add(1) }))
	return s
}

func (s *stress) round() {
	seed := s.seed
	r := rand.New(rand.NewPCG(seed, 1))
	var callers sync.WaitGroup
	for c := range 1 + r.IntN(5) {
		callers.Go(func() { s.caller(rand.New(rand.NewPCG(seed, uint64(2+c)))) })
	}
	early := r.IntN(3) == 0 // the pool is closed while callers still start tasks
	if early {
		for range r.IntN(50) {
			s.pause(r)
		}
	} else {
		callers.Wait()
	}
	abandoned := -1
	if r.IntN(2) == 0 {
		var twice sync.WaitGroup
		for range 2 {
			twice.Go(s.pool.Close)
		}
		twice.Wait()
	} else {
		ctx, cancel := context.WithCancel(context.Background())
		var canceller sync.WaitGroup
		canceller.Go(func() {
			for range r.IntN(4) {
				s.pause(r)
			}
			cancel()
		})
		abandoned, _ = s.pool.Shutdown(ctx)
		canceller.Wait()
	}
	callers.Wait()
	s.check(abandoned)
}

// check compares the counts of the pool with what was seen from outside.
func (s *stress) check(abandoned int) {
	t := s.t
	st := s.pool.Stats()
	if st.Running+st.Queued+st.Waiting+st.Workers+st.Idle != 0 {
		t.Errorf("a closed pool has %+v", st)
	}
	began, accepted := s.began.Load(), s.accepted.Load()
	if int64(st.Completed) != began {
		t.Errorf("%d tasks ran, the pool says %d", began, st.Completed)
	}
	if !s.seqs && accepted != began+int64(st.Dropped) {
		t.Errorf("%d accepted, %d ran, %d dropped", accepted, began, st.Dropped)
	}
	if abandoned > int(st.Dropped) {
		t.Errorf("%d abandoned of %d dropped", abandoned, st.Dropped)
	}
	if s.panics.Load() != s.expected.Load() {
		t.Errorf("OnPanic was called %d times for %d panics", s.panics.Load(), s.expected.Load())
	}
	if top := int(s.top.Load()); top > s.largest {
		t.Errorf("%d at work, the largest limit was %d", top, s.largest)
	}
	for _, task := range s.rejected {
		if task.began.Load() != 0 {
			t.Error("a task ran that was not accepted")
		}
	}
	l := s.limiter.Stats()
	for range 1000 { // a permit may be on its way from one group to the next
		if l.Running+l.Waiting == 0 {
			return
		}
		runtime.Gosched()
		l = s.limiter.Stats()
	}
	t.Errorf("the limiter has %+v", l)
}

// pause lets others go on: for a time in which workers may expire, in a bubble.
func (s *stress) pause(r *rand.Rand) {
	switch {
	case s.bubble && r.IntN(20) == 0:
		time.Sleep(1500 * time.Millisecond)
	case s.bubble:
		time.Sleep(time.Duration(r.IntN(200)) * time.Microsecond)
	default:
		runtime.Gosched()
	}
}

func (s *stress) enter() {
	for n, old := s.now.Add(1), s.top.Load(); n > old && !s.top.CompareAndSwap(old, n); old = s.top.Load() {
	}
}

func (s *stress) leave() { s.now.Add(-1) }

// outside runs f, which waits for others, as a part of a task.
func (s *stress) outside(f func()) {
	s.leave()
	defer s.enter()
	f()
}

// task returns the body of a task on the pool, which ends as the seed says.
// inGroup is for a task that somebody waits for.
func (s *stress) task(seed uint64, depth int, inGroup bool) (*stressTask, func(context.Context) error) {
	task := new(stressTask)
	return task, func(ctx context.Context) error {
		if task.began.Add(1) != 1 {
			s.t.Error("a task ran twice")
		}
		s.began.Add(1)
		s.enter()
		defer s.leave()
		r := rand.New(rand.NewPCG(seed, uint64(depth)))
		for range r.IntN(3) {
			s.pause(r)
		}
		if depth < 3 {
			s.nested(ctx, r, depth)
		}
		switch r.IntN(12) {
		case 0:
			return errors.New("boom")
		case 1:
			if !inGroup {
				s.expected.Add(1)
			}
			panic("stress")
		case 2:
			runtime.Goexit()
		}
		return nil
	}
}

// nested is what a task does on the pool that it runs on.
func (s *stress) nested(ctx context.Context, r *rand.Rand, depth int) {
	switch r.IntN(8) {
	case 0:
		s.outside(func() { s.group(ctx, r, depth+1) })
	case 1:
		s.outside(func() { s.loop(ctx, r) })
	case 2:
		task, f := s.task(r.Uint64(), depth+1, false)
		var err error
		s.outside(func() { err = s.pool.GoContext(ctx, func(ctx context.Context) { f(ctx) }) })
		s.answer(task, err == nil)
	case 3:
		task, f := s.task(r.Uint64(), depth+1, false)
		s.answer(task, s.pool.TryGo(func(ctx context.Context) { f(ctx) }))
	case 4:
		if s.seqs {
			s.outside(func() { s.sequence(ctx, r) })
		}
	}
}

// answer notes whether a task was accepted.
func (s *stress) answer(task *stressTask, accepted bool) {
	if accepted {
		s.accepted.Add(1)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rejected = append(s.rejected, task)
}

// caller uses the pool from outside.
func (s *stress) caller(r *rand.Rand) {
	for range 5 + r.IntN(20) {
		switch r.IntN(10) {
		case 0:
			s.group(context.Background(), r, 1)
		case 1:
			s.loop(context.Background(), r)
		case 2:
			s.pool.SetLimit(1 + r.IntN(s.largest))
		case 3:
			ctx, cancel := context.WithCancel(context.Background())
			if r.IntN(2) == 0 {
				cancel()
			}
			task, f := s.task(r.Uint64(), 0, false)
			s.answer(task, s.pool.GoContext(ctx, func(ctx context.Context) { f(ctx) }) == nil)
			cancel()
		case 4, 5:
			task, f := s.task(r.Uint64(), 0, false)
			s.answer(task, s.pool.TryGo(func(ctx context.Context) { f(ctx) }))
		case 6:
			if s.seqs {
				s.sequence(context.Background(), r)
			}
		default:
			task, f := s.task(r.Uint64(), 0, false)
			s.answer(task, s.pool.Go(func(ctx context.Context) { f(ctx) }) == nil)
		}
		if r.IntN(4) == 0 {
			s.pause(r)
		}
	}
}

// group starts tasks in a group on the pool, cancels it perhaps, and waits. When
// Wait returns, none of them runs.
func (s *stress) group(ctx context.Context, r *rand.Rand, depth int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	options := []stint.Option{s.pool, stint.Queue(r.IntN(4))}
	if r.IntN(2) == 0 {
		options = append(options, stint.KeepGoing())
	}
	g := stint.NewGroup(ctx, options...)
	var running atomic.Int32
	for range r.IntN(6) {
		task, f := s.task(r.Uint64(), depth, true)
		counted := func(ctx context.Context) error {
			running.Add(1)
			defer running.Add(-1)
			return f(ctx)
		}
		switch r.IntN(4) {
		case 0:
			s.answer(task, g.TryGo(counted))
		case 1:
			s.answer(task, g.GoContext(ctx, counted) == nil)
		default:
			s.answer(task, g.Go(counted))
		}
	}
	if r.IntN(5) == 0 {
		cancel()
	}
	raised(func() { g.Wait() })
	if running.Load() != 0 {
		s.t.Error("Wait returned while a task runs")
	}
}

// loop runs a loop on the pool: every item once, unless it returns an error.
func (s *stress) loop(ctx context.Context, r *rand.Rand) {
	items := make([]atomic.Int32, 1+r.IntN(20))
	fault, at := r.IntN(5), r.IntN(len(items))
	var err error
	panicked := raised(func() {
		err = stint.Each(ctx, slices.Collect(firstN(len(items))), func(_ context.Context, i int) error {
			if items[i].Add(1) != 1 {
				s.t.Error("an item was called twice")
			}
			s.enter()
			defer s.leave()
			if s.bubble {
				time.Sleep(time.Microsecond)
			}
			switch {
			case i != at:
			case fault == 0:
				return errors.New("boom")
			case fault == 1:
				panic("stress")
			case fault == 2:
				runtime.Goexit()
			}
			return nil
		}, s.pool)
	})
	if err != nil || panicked {
		return
	}
	for i := range items {
		if items[i].Load() != 1 {
			s.t.Errorf("a loop returned nil, and item %d of %d was not called", i, len(items))
			return
		}
	}
}

// sequence runs a sequence on the pool, leaves it early perhaps, and expects the
// order of the input.
func (s *stress) sequence(ctx context.Context, r *rand.Rand) {
	n, until, fault := 1+r.IntN(12), r.IntN(15), r.IntN(14)
	next := 0
	raised(func() {
		for i, err := range stint.MapSeq(ctx, firstN(n), func(_ context.Context, i int) (int, error) {
			s.began.Add(1)
			s.enter()
			defer s.leave()
			if i == fault {
				return 0, errors.New("boom")
			}
			return i, nil
		}, s.pool, stint.Queue(r.IntN(4))) {
			if err != nil {
				continue
			}
			if i != next {
				s.t.Errorf("value %d instead of %d", i, next)
			}
			next++
			if i == until {
				break
			}
		}
	})
}

// raised calls f and reports whether it raised a panic of a task, which it stops.
func raised(f func()) (panicked bool) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case *stint.PanicError:
			panicked = true
		default:
			panic(v)
		}
	}()
	f()
	return false
}

// firstN is the sequence from 0 to n-1.
func firstN(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// noGoroutines checks that the module has started none that is still there. One
// that was waited for may have its last instructions before it.
func noGoroutines(t *testing.T) {
	t.Helper()
	var left [][]byte
	for range 1000 {
		buf := make([]byte, 1<<20)
		left = left[:0]
		for _, g := range bytes.Split(buf[:runtime.Stack(buf, true)], []byte("\n\n")) {
			if bytes.Contains(g, []byte("created by github.com/stint-go/stint")) && !bytes.Contains(g, []byte("created by github.com/stint-go/stint_test")) {
				left = append(left, g)
			}
		}
		if len(left) == 0 {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d goroutines are left, the first:\n%s", len(left), left[0])
}

// TestWakeups submits one task at a time to a pool whose workers park between
// two, waits for it in three ways, and changes the limit meanwhile: a lost wake-up
// stops the test.
func TestWakeups(t *testing.T) {
	r := rand.New(rand.NewPCG(*stressSeed, 0))
	for round := range *stressRounds {
		p := stint.NewPool(stint.Limit(1+r.IntN(3)), stint.Queue(r.IntN(2)))
		ran := 0
		done := make(chan struct{}, 1)
		for range 100 {
			submit := p.Go
			if r.IntN(2) == 0 {
				submit = func(f func(context.Context)) error { return p.GoContext(context.Background(), f) }
			}
			if err := submit(func(context.Context) { ran++; done <- struct{}{} }); err != nil {
				t.Fatal(err)
			}
			switch r.IntN(4) {
			case 0:
				if err := p.Idle(context.Background()); err != nil {
					t.Fatal(err)
				}
			case 1:
				p.SetLimit(1 + r.IntN(3))
			}
			<-done
			if r.IntN(8) == 0 {
				for p.Stats().Idle == 0 { // let it park
					runtime.Gosched()
				}
			}
		}
		p.Close()
		if st := p.Stats(); ran != 100 || st.Completed != 100 || st.Workers != 0 {
			t.Fatalf("-stint.seed=%d: round %d: %d ran: %+v", *stressSeed, round, ran, st)
		}
	}
	noGoroutines(t)
}

// TestShutdownCounts cuts pools short while their workers go from task to task:
// each accepted task has run or is in the count.
func TestShutdownCounts(t *testing.T) {
	for round := range *stressRounds {
		p := stint.NewPool(stint.Limit(1 + round%3))
		var ran, accepted atomic.Int64
		ctx, cancel := context.WithCancel(context.Background())
		for i := range 200 {
			if p.Go(func(context.Context) {
				if ran.Add(1) == int64(round%50) {
					cancel()
				}
			}) == nil {
				accepted.Add(1)
			}
			if i == 100 && round%50 == 0 {
				cancel()
			}
		}
		abandoned, err := p.Shutdown(ctx)
		if int64(abandoned) != accepted.Load()-ran.Load() || err == nil && abandoned > 0 {
			t.Fatalf("round %d: %d accepted, %d ran, %d abandoned: %v", round, accepted.Load(), ran.Load(), abandoned, err)
		}
		cancel()
	}
}
