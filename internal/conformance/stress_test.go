package conformance_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/goroutine"
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
	goroutine.NoneLeft(t)
}

// stress is one round.
type stress struct {
	t       *testing.T
	seed    uint64
	bubble  bool
	limiter *stint.Limiter
	pool    *stint.Pool
	largest int // of the limits of this round

	now              atomic.Int32 // tasks at work: those that wait for others are not
	bound            atomic.Int64 // on now, in the low byte; the rest counts its changes
	setting          atomic.Bool  // somebody changes the limit
	began, accepted  atomic.Int64 // on the pool
	unsure           atomic.Int64 // accepted or not: the value at which a sequence was told to stop
	panics, expected atomic.Int64 // calls of OnPanic, and those there should be

	mu       sync.Mutex
	rejected []*stressTask
}

type stressTask struct{ began atomic.Int32 }

func newStress(t *testing.T, seed uint64, bubble bool) *stress {
	r := rand.New(rand.NewPCG(seed, 0))
	s := &stress{t: t, seed: seed, bubble: bubble, largest: 1 + r.IntN(5)}
	s.bound.Store(int64(s.largest))
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
	if d := began + int64(st.Dropped) - accepted; d < 0 || d > s.unsure.Load() {
		t.Errorf("%d accepted and up to %d more, %d ran, %d dropped", accepted, s.unsure.Load(), began, st.Dropped)
	}
	if abandoned > int(st.Dropped) {
		t.Errorf("%d abandoned of %d dropped", abandoned, st.Dropped)
	}
	if s.panics.Load() != s.expected.Load() {
		t.Errorf("OnPanic was called %d times for %d panics", s.panics.Load(), s.expected.Load())
	}
	for _, task := range s.rejected {
		if task.began.Load() != 0 {
			t.Error("a task ran that was not accepted")
		}
	}
	l := s.limiter.Stats()
	for i := range 3000 { // a permit may be on its way from one group to the next
		if l.Running+l.Waiting == 0 {
			return
		}
		if i < 1000 {
			runtime.Gosched()
		} else {
			time.Sleep(time.Millisecond) // the one who carries it has no processor
		}
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

// enter counts a task at work, and checks the bound, unless that changes just now.
func (s *stress) enter() {
	before := s.bound.Load()
	n := int64(s.now.Add(1))
	if bound := before & 0xff; n > bound && s.bound.Load() == before {
		s.t.Errorf("%d at work, the bound was %d", n, bound)
	}
}

// setBound changes the bound on the tasks at work.
func (s *stress) setBound(n int) { s.bound.Store((s.bound.Load()>>8+1)<<8 | int64(n)) }

// setLimit changes the limit. It bounds the tasks at work from the moment that no
// more of them run.
func (s *stress) setLimit(r *rand.Rand) {
	if !s.setting.CompareAndSwap(false, true) {
		return
	}
	defer s.setting.Store(false)
	n := 1 + r.IntN(s.largest)
	s.setBound(s.largest)
	s.pool.SetLimit(n)
	for range 20 {
		if s.limiter.Stats().Running <= n {
			s.setBound(n)
			return
		}
		s.pause(r)
	}
}

func (s *stress) leave() { s.now.Add(-1) }

// outside runs f, which waits for others, as a part of a task.
func (s *stress) outside(f func()) {
	s.leave()
	defer s.enter()
	f()
}

// task returns the body of a task on the pool, which ends as the seed says. inGroup
// is for a task whose group is waited for. It counts itself in began.
func (s *stress) task(seed uint64, depth int, inGroup bool, began *atomic.Int64) (*stressTask, func(context.Context) error) {
	task := new(stressTask)
	return task, func(ctx context.Context) error {
		if task.began.Add(1) != 1 {
			s.t.Error("a task ran twice")
		}
		began.Add(1)
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
		task, f := s.task(r.Uint64(), depth+1, false, &s.began)
		var err error
		s.outside(func() { err = s.pool.GoContext(ctx, func(ctx context.Context) { f(ctx) }) })
		s.answer(task, err == nil, &s.accepted)
	case 3:
		task, f := s.task(r.Uint64(), depth+1, false, &s.began)
		s.answer(task, s.pool.TryGo(func(ctx context.Context) { f(ctx) }), &s.accepted)
	case 4:
		s.outside(func() { s.sequence(ctx, r) })
	}
}

// answer notes whether a task was accepted, and counts it in n.
func (s *stress) answer(task *stressTask, accepted bool, n *atomic.Int64) {
	if accepted {
		n.Add(1)
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
			s.setLimit(r)
		case 3:
			ctx, cancel := context.WithCancel(context.Background())
			if r.IntN(2) == 0 {
				cancel()
			}
			task, f := s.task(r.Uint64(), 0, false, &s.began)
			s.answer(task, s.pool.GoContext(ctx, func(ctx context.Context) { f(ctx) }) == nil, &s.accepted)
			cancel()
		case 4, 5:
			task, f := s.task(r.Uint64(), 0, false, &s.began)
			s.answer(task, s.pool.TryGo(func(ctx context.Context) { f(ctx) }), &s.accepted)
		case 6:
			s.sequence(context.Background(), r)
		default:
			task, f := s.task(r.Uint64(), 0, false, &s.began)
			s.answer(task, s.pool.Go(func(ctx context.Context) { f(ctx) }) == nil, &s.accepted)
		}
		if r.IntN(4) == 0 {
			s.pause(r)
		}
	}
}

// group starts tasks in a group on the pool or beside it on its limiter, cancels
// it perhaps, and waits. When Wait returns, none of them runs; if it returns nil,
// all have run.
func (s *stress) group(ctx context.Context, r *rand.Rand, depth int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	options := []stint.Option{s.pool, stint.Queue(r.IntN(4) * r.IntN(50))}
	onPool := r.IntN(3) > 0
	if !onPool {
		options[0] = s.limiter
	}
	if r.IntN(2) == 0 { // the pool's queue, or a long one
		options = options[:1]
	}
	if r.IntN(2) == 0 {
		options = append(options, stint.KeepGoing())
	}
	g := stint.NewGroup(ctx, options...)
	var running atomic.Int32
	var began, accepted atomic.Int64
	for range r.IntN(6) {
		task, f := s.task(r.Uint64(), depth, true, &began)
		counted := func(ctx context.Context) error {
			running.Add(1)
			defer running.Add(-1)
			return f(ctx)
		}
		switch r.IntN(4) {
		case 0:
			s.answer(task, g.TryGo(counted), &accepted)
		case 1:
			s.answer(task, g.GoContext(ctx, counted) == nil, &accepted)
		default:
			s.answer(task, g.Go(counted), &accepted)
		}
	}
	if r.IntN(5) == 0 {
		cancel()
	}
	var err error
	panicked := raised(func() { err = g.Wait() })
	if running.Load() != 0 {
		s.t.Error("Wait returned while a task runs")
	}
	if b, a := began.Load(), accepted.Load(); b > a || b < a && err == nil && !panicked {
		s.t.Errorf("a group accepted %d tasks and ran %d: %v", a, b, err)
	}
	if onPool {
		s.began.Add(began.Load())
		s.accepted.Add(accepted.Load())
	}
}

// loop runs a loop on the pool: every item once, unless it returns an error.
func (s *stress) loop(ctx context.Context, r *rand.Rand) {
	items := make([]atomic.Int32, 1+r.IntN(20))
	fault, at := r.IntN(5), r.IntN(len(items))
	var err error
	panicked := raised(func() {
		err = stint.Each(ctx, indexes(len(items)), func(_ context.Context, i int) error {
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

// sequence runs a sequence on the pool: of tasks, or of results, which it leaves
// early perhaps and expects in the order of the input.
func (s *stress) sequence(ctx context.Context, r *rand.Rand) {
	n, until, fault, queue := 1+r.IntN(12), r.IntN(15), r.IntN(14), stint.Queue(r.IntN(4)*r.IntN(50))
	item := func(_ context.Context, i int) (int, error) {
		s.began.Add(1)
		s.enter()
		defer s.leave()
		if i == fault {
			return 0, errors.New("boom")
		}
		return i, nil
	}
	// pulled counts the values that are accepted. The last may be one of them when
	// the sequence was told to stop.
	pulled := func(last *atomic.Int64) func(func(int) bool) {
		return func(yield func(int) bool) {
			for i := range n {
				if !yield(i) {
					last.Add(1)
					return
				}
				s.accepted.Add(1)
			}
		}
	}
	if r.IntN(2) == 0 {
		var refused atomic.Int64 // EachSeq stops at none that was accepted
		stint.EachSeq(ctx, pulled(&refused), func(ctx context.Context, i int) error {
			_, err := item(ctx, i)
			return err
		}, s.pool, queue)
		return
	}
	next := 0
	for i, err := range stint.MapSeq(ctx, pulled(&s.unsure), item, s.pool, queue) {
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
	goroutine.NoneLeft(t)
}

// TestShutdownCounts shuts pools down while their workers go from task to task: each
// accepted task has run or is in the count.
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
