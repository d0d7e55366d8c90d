package conformance_test

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/stint-go/stint/internal/goroutine"
)

// TestPrograms runs random programs and compares what happens with what may happen: see
// running.check and resource.finish. Most run in bubbles, where a lost wake-up is a deadlock and
// the time tells what came first. A failure names the flags that run its program alone.
func TestPrograms(t *testing.T) {
	for i := range max(rounds(*stressRounds/2), 1) {
		seed := *stressSeed + uint64(i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) { oneProgram(t, seed) }) // the name is printed when the time is up, too
		if t.Failed() {
			t.Fatalf("-stint.seed=%d -stint.rounds=1", seed)
		}
	}
}

func oneProgram(t *testing.T, seed uint64) {
	finished := false
	defer func() {
		if !finished { // a deadlock panics
			fmt.Printf("-stint.seed=%d -stint.rounds=1\n%v", seed, decodeProgram(randomBytes(seed)))
		}
	}()
	runProgram(t, randomBytes(seed), seed%4 != 0)
	finished = true
}

// FuzzPrograms is TestPrograms with programs of the fuzzer.
func FuzzPrograms(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(randomBytes(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { runProgram(t, data[:min(len(data), 1000)], true) })
}

func randomBytes(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 5))
	data := make([]byte, r.IntN(1<<(4+r.IntN(7))))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

func runProgram(t *testing.T, data []byte, bubble bool) {
	p := decodeProgram(data)
	run := func(t *testing.T) {
		w := newWorld(t, p, bubble)
		w.run()
		w.settle(func() bool { return len(goroutine.Ours()) == 0 })
		goroutine.NoneLeft(t)
		if t.Failed() {
			t.Logf("%v", p)
		}
	}
	if bubble {
		synctest.Test(t, run)
	} else {
		run(t)
	}
}

// A failure is an error of a task, or the value that it panics with.
type failure struct{ task *taskPlan }

func (f *failure) Error() string { return "failure" }

// errRefused is the outcome of a request that httplimit.Handler has not passed on.
var errRefused = errors.New("refused")

// A world is a program that runs.
type world struct {
	t              *testing.T
	bubble         bool
	program        *program
	resources      []*resource
	told, expected atomic.Int64 // panics of pools

	mu    sync.Mutex
	fired []*running
}

// A resource is a limiter, and perhaps a pool on it.
type resource struct {
	w       *world
	name    string
	plan    resourcePlan
	limiter *stint.Limiter
	pool    *stint.Pool

	now              atomic.Int32 // tasks at work: not those that wait for others
	bound            atomic.Int64 // on now, in the low byte; the rest counts its changes
	setting          atomic.Bool  // somebody sets the limit
	tasks, failed    atomic.Int64 // that the limiter counts
	pooled, poolFail atomic.Int64 // that the pool counts
	closed, streamed atomic.Bool
}

func newWorld(t *testing.T, p *program, bubble bool) *world {
	w := &world{t: t, program: p, bubble: bubble}
	for i, plan := range p.resources {
		x := &resource{w: w, name: fmt.Sprint("resource ", i, ": "), plan: plan, limiter: stint.Limit(plan.limit)}
		if plan.adaptive {
			x.limiter = stint.Auto(1, plan.limit)
		}
		if plan.pool {
			opts := []stint.Option{x.limiter, stint.Queue(plan.queue), stint.OnPanic(func(*stint.PanicError) { w.told.Add(1) })}
			if plan.lows {
				opts = append(opts, stint.LowPriority())
			}
			x.pool = stint.NewPool(opts...)
		}
		x.setBound(plan.limit)
		w.resources = append(w.resources, x)
	}
	return w
}

func (w *world) run() {
	var all sync.WaitGroup
	for _, calls := range w.program.callers {
		for _, c := range calls {
			all.Go(func() { leaving(func() { w.call(context.Background(), c, true) }) })
		}
	}
	for _, c := range w.program.closing {
		all.Go(func() { w.resources[c.on].end(c) })
	}
	all.Wait()
	for _, x := range w.resources {
		x.finish()
	}
	for _, r := range w.fired {
		r.checkFired()
	}
	equal(w.t, "calls of OnPanic", w.told.Load(), w.expected.Load())
}

// scaled is how long d is: outside a bubble the test has to wait.
func (w *world) scaled(d time.Duration) time.Duration {
	if w.bubble {
		return d
	}
	return d / 1000
}

// now is the time of a bubble. Outside, everything may have happened at once.
func (w *world) now() time.Duration {
	if w.bubble {
		return sinceBubble()
	}
	return 0
}

// settle waits until ok, which others need a moment for.
func (w *world) settle(ok func() bool) {
	if w.bubble {
		synctest.Wait()
		return
	}
	for i := 0; i < 3000 && !ok(); i++ {
		if i > 1000 {
			time.Sleep(time.Millisecond)
		}
		runtime.Gosched()
	}
}

func (w *world) add(r *running) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fired = append(w.fired, r)
}

// end changes x after a while, or ends it.
func (x *resource) end(c closePlan) {
	after := x.w.scaled(c.after)
	time.Sleep(after)
	ctx, cancel := context.WithTimeout(context.Background(), after)
	defer cancel()
	switch {
	case x.pool == nil || c.what == 0:
		n := c.n % (x.plan.limit + 1)
		if x.set(n); n == 0 { // a pause
			time.Sleep(after)
			x.set(x.plan.limit)
		}
	case c.what == 1:
		x.pool.Idle(ctx)
	case c.what == 2:
		x.closed.Store(true)
		x.pool.Close()
	default:
		x.closed.Store(true)
		x.pool.Shutdown(ctx)
	}
}

// enter counts a task at work, and checks the bound, unless that changes just now.
func (x *resource) enter() {
	if x == nil {
		return
	}
	before := x.bound.Load()
	if n := int64(x.now.Add(1)); n > before&0xff && x.bound.Load() == before {
		x.w.t.Errorf("%s%d tasks at work, the bound is %d", x.name, n, before&0xff)
	}
}

// setBound changes the bound on the tasks at work.
func (x *resource) setBound(n int) { x.bound.Store((x.bound.Load()>>8+1)<<8 | int64(n)) }

// set changes the limit, which is a bound from the moment on that no more tasks run.
func (x *resource) set(n int) {
	if !x.setting.CompareAndSwap(false, true) {
		return
	}
	defer x.setting.Store(false)
	x.setBound(x.plan.limit)
	x.limiter.Set(n)
	for range 20 {
		if x.limiter.Stats().Running <= n {
			x.setBound(n)
			return
		}
		time.Sleep(x.w.scaled(time.Millisecond))
	}
}

// leave is called by a task that ends or waits for others.
func (x *resource) leave() {
	if x != nil {
		x.now.Add(-1)
	}
}

// count counts a task that has ended.
func (x *resource) count(failed, pooled bool) {
	if x == nil {
		return
	}
	n := int64(0)
	if failed {
		n = 1
	}
	x.tasks.Add(1)
	x.failed.Add(n)
	if pooled {
		x.pooled.Add(1)
		x.poolFail.Add(n)
	}
}

// finish ends x. Its counts must be those that were seen from outside, and all permits free.
func (x *resource) finish() {
	t := x.w.t
	if x.pool != nil {
		equal(t, x.name+"Idle", x.pool.Idle(context.Background()), nil)
		x.pool.Close()
		st := x.pool.Stats()
		equal(t, x.name+"what a closed pool has", st.Running+st.Queued+st.Waiting+st.Workers+st.Idle, 0)
		if !x.streamed.Load() {
			equal(t, x.name+"Completed of a pool", st.Completed, uint64(x.pooled.Load()))
			equal(t, x.name+"Failed of a pool", st.Failed, uint64(x.poolFail.Load()))
		}
	}
	var st stint.LimiterStats
	x.w.settle(func() bool { st = x.limiter.Stats(); return st.Running+st.Waiting == 0 }) // a permit may be on its way
	st = x.limiter.Stats()
	equal(t, x.name+"permits held and waited for", st.Running+st.Waiting, 0)
	if !x.streamed.Load() {
		equal(t, x.name+"Completed", st.Completed, uint64(x.tasks.Load()))
		equal(t, x.name+"Failed", st.Failed, uint64(x.failed.Load()))
	}
	if x.plan.adaptive {
		x.limiter.Set(x.plan.limit) // the search would go on
	}
	equal(t, x.name+"free permits", x.free(), x.limiter.Current())
}

// free counts the free permits: it takes them all.
func (x *resource) free() (n int) {
	err := x.limiter.TryDo(context.Background(), func(context.Context) error { n = 1 + x.free(); return nil })
	if err != nil {
		equal(x.w.t, "error without a free permit", err, stint.ErrBusy)
	}
	return n
}

// An event is how a task, or the context of a call, ended.
type event struct {
	at     time.Duration
	index  int
	err    error
	value  any  // of a panic
	exited bool // by Goexit: then err is ErrGoexit
}

// running is a call that runs, and what is seen of it.
type running struct {
	w                *world
	plan             *callPlan
	on, also         *resource // or nil
	outside          bool      // no task makes the call
	partial, fired   bool      // it need not run all tasks, or does not wait for them
	mu               sync.Mutex
	began            []int
	inside           int
	answered         bool // accepted and refused have the answers for the tasks
	accepted, refuse []int
	events           []event // of tasks, in the order of time
	ended            *event  // of the context
}

func (r *running) n() int { return len(r.plan.tasks) }

// call makes a call. A panic or Goexit passes through as the plan says.
func (w *world) call(ctx context.Context, c *callPlan, outside bool) (err error) {
	r := &running{w: w, plan: c, outside: outside, began: make([]int, len(c.tasks))}
	if c.on >= 0 && !c.kind.apart {
		r.on = w.resources[c.on]
	}
	if c.also >= 0 {
		r.also = w.resources[c.also]
	}
	for _, x := range []*resource{r.on, r.also} {
		if x != nil && c.kind.streams {
			x.streamed.Store(true)
		}
	}
	ctx, done := c.in(ctx, w.scaled(c.after))
	defer done()
	stop := context.AfterFunc(ctx, func() { r.mark(event{err: context.Cause(ctx)}, &r.ended) })
	returned := false
	defer func() {
		v := recover()
		stop()
		r.check(ctx, err, v, !returned && v == nil)
		if v != nil && c.through {
			panic(v)
		}
	}()
	err = c.kind.run(r, ctx, r.body, r.options()...)
	returned = true
	return err
}

// in returns the context of the call.
func (c *callPlan) in(ctx context.Context, after time.Duration) (context.Context, func()) {
	switch c.context {
	case 8:
		return context.WithTimeout(ctx, after)
	case 9:
		ctx, cancel := context.WithCancelCause(ctx)
		t := time.AfterFunc(after, func() { cancel(&failure{}) })
		return ctx, func() { t.Stop(); cancel(nil) }
	case 10:
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return ctx, cancel
	case 11:
		return context.WithoutCancel(ctx), func() {}
	}
	return ctx, func() {}
}

func (r *running) options() (opts []stint.Option) {
	c := r.plan
	switch {
	case r.pool() != nil:
		opts = append(opts, r.on.pool)
	case r.on != nil:
		opts = append(opts, r.on.limiter)
	}
	if r.also != nil {
		opts = append(opts, r.also.limiter)
	} else if c.limit > 0 {
		opts = append(opts, stint.Limit(c.limit))
	}
	if c.keep && c.kind.keep {
		opts = append(opts, stint.KeepGoing())
	}
	if c.queue >= 0 && c.kind.queue {
		opts = append(opts, stint.Queue(c.queue))
	}
	if c.low {
		opts = append(opts, stint.LowPriority())
	}
	if c.named {
		opts = append(opts, stint.Name("program"))
	}
	return opts
}

func (r *running) pool() *stint.Pool {
	if r.on == nil {
		return nil
	}
	return r.on.pool
}

func (r *running) limiter() *stint.Limiter {
	if r.on == nil {
		return stint.Limit(1)
	}
	return r.on.limiter
}

// body runs task i.
func (r *running) body(ctx context.Context, i int) (err error) {
	r.begin(i)
	r.enter()
	e := event{index: i, err: stint.ErrGoexit, exited: true}
	defer func() {
		r.leave()
		if v := recover(); v != nil {
			e = event{index: i, value: v}
			defer panic(v)
		}
		r.end(e)
	}()
	err = r.work(ctx, r.plan.tasks[i])
	e.err, e.exited = err, false
	return err
}

func (r *running) enter() {
	r.on.enter()
	r.also.enter()
}

func (r *running) leave() {
	r.on.leave()
	r.also.leave()
}

func (r *running) begin(i int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.began[i]++; r.began[i] > 1 {
		r.fail("task %d ran twice", i)
	}
	r.inside++
	if limit := r.plan.limit; limit > 0 && r.inside > limit && r.plan.kind.name != "par" {
		r.fail("%d tasks under a limit of %d", r.inside, limit)
	}
}

// end counts a task that has ended.
func (r *running) end(e event) {
	failed := e.exited || e.value != nil || e.err != nil && !r.fired && r.plan.kind.name != "Handler" // they know no errors
	r.on.count(failed, !r.plan.kind.loop || r.plan.limit > 0 || r.also != nil)
	r.also.count(failed, false)
	if r.fired && e.value != nil {
		r.w.expected.Add(1)
	}
	r.mark(e, nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inside--
}

// mark notes when e happened.
func (r *running) mark(e event, where **event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.at = r.w.now()
	if where != nil {
		*where = &e
	} else {
		r.events = append(r.events, e)
	}
}

// work is what a task does. It is not at work while it makes a call.
func (r *running) work(ctx context.Context, p *taskPlan) error {
	time.Sleep(r.w.scaled(p.works))
	for _, c := range p.calls {
		err := func() error {
			r.leave()
			defer r.enter()
			return r.w.call(ctx, c, false)
		}()
		if err != nil && p.fails {
			return err
		}
	}
	switch p.end {
	case fails:
		return &failure{p}
	case panics:
		panic(&failure{p})
	case exits:
		runtime.Goexit()
	case watches:
		select {
		case <-ctx.Done():
		case <-time.After(r.w.scaled(20 * time.Millisecond)):
		}
		return context.Cause(ctx)
	}
	return nil
}

func (r *running) keep(where *error, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if *where == nil {
		*where = err
	}
}

// answer notes whether task i was accepted.
func (r *running) answer(i int, accepted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered = true
	if accepted {
		r.accepted = append(r.accepted, i)
	} else {
		r.refuse = append(r.refuse, i)
	}
}

func (r *running) fail(format string, args ...any) {
	r.w.t.Errorf("%v: %s: %s", r.w.now(), r.plan.kind.name, fmt.Sprintf(format, args...))
}

// inOrder checks the results of a call that returned err: all, or the first, in order.
func (r *running) inOrder(out []int, err error) {
	if !slices.Equal(out, indexes(len(out))) && r.plan.kind.name != "pipeline" || err == nil && len(out) != r.n() {
		r.fail("results %v, error %v", out, err)
	}
}

// results checks the values of Results, one for each accepted task.
func (r *running) results(out []int, err error) {
	if len(out) != len(r.accepted) || err == nil && !slices.Equal(out, r.accepted) {
		r.fail("results %v of %v, error %v", out, r.accepted, err)
	}
}

// inTurn checks that the tasks of each key, their number modulo keys, ran one after the other.
func (r *running) inTurn(keys int) {
	last := make([]int, keys)
	for _, e := range r.events {
		if e.index < last[e.index%keys] {
			r.fail("task %d ended after task %d", e.index, last[e.index%keys])
		}
		last[e.index%keys] = e.index
	}
}

// checkFired checks the tasks of a pool when the pool has ended: those that it has not
// accepted did not run, the others did, unless it was shut down.
func (r *running) checkFired() {
	for _, i := range r.refuse {
		equal(r.w.t, "runs of a refused task", r.began[i], 0)
	}
	for _, i := range r.accepted {
		if r.began[i] == 0 && !r.on.closed.Load() {
			r.fail("task %d was lost", i)
		}
	}
	equal(r.w.t, "fired tasks that run", r.inside, 0)
}

// check compares how the call ended with what its tasks and its context did: a panic comes
// before all errors; otherwise the first error counts, or the end of the context. Events of
// the same instant may have come in any order.
func (r *running) check(ctx context.Context, err error, v any, exited bool) {
	if r.fired {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checkTasks(err == nil && v == nil && !exited)
	failed := slices.DeleteFunc(slices.Clone(r.events), func(e event) bool { return e.err == nil && e.value == nil })
	panicked := slices.DeleteFunc(slices.Clone(failed), func(e event) bool { return e.value == nil })
	switch {
	case v != nil:
		if !slices.ContainsFunc(earliest(panicked), func(e event) bool { return value(e.value) == value(v) }) {
			r.fail("raised %v; panics: %v", v, panicked)
		}
		if _, ok := v.(*stint.PanicError); !ok && !r.plan.kind.raw {
			r.fail("raised a %T", v)
		}
	case len(panicked) > 0:
		r.fail("a panic is lost: %v; error %v", panicked, err)
	case exited:
		if !r.plan.kind.exits || !slices.ContainsFunc(failed, func(e event) bool { return e.exited }) {
			r.fail("ended the caller's goroutine: %v", failed)
		}
	case strings.HasPrefix(r.plan.kind.name, "First"):
		r.checkFirst(ctx, err)
	case err == nil:
		if !r.partial && (len(failed) > 0 || !r.all()) {
			r.fail("returned nil; events %v, runs %v, accepted %v", r.events, r.began, r.accepted)
		}
	case r.plan.keep && r.plan.kind.keep && !r.partial:
		r.checkItems(ctx, err, failed)
	case slices.ContainsFunc(r.candidates(failed), func(e event) bool { return e.err == err }):
	case !r.stopped(ctx, err) || r.ended != nil && slices.ContainsFunc(r.candidates(failed), func(e event) bool { return e.at < r.ended.at }) && r.first():
		r.fail("returned %v; events %v", err, failed)
	}
}

// checkTasks checks that no task runs any more, and none that was not accepted has run. If the
// call has succeeded, only TryGo, which is called for each third task, has refused one.
func (r *running) checkTasks(succeeded bool) {
	if r.inside != 0 {
		r.fail("%d tasks run when it is over", r.inside)
	}
	for _, i := range r.refuse {
		if r.began[i] != 0 || succeeded && i%3 != 1 {
			r.fail("task %d was not accepted, and ran %d times; it succeeded: %v", i, r.began[i], succeeded)
		}
	}
}

// first reports whether the outcome is the first event, and not that of the first record, or
// of what has been seen of the results, or of a pool.
func (r *running) first() bool {
	return !r.plan.kind.streams && !r.partial && !(r.on != nil && r.on.closed.Load())
}

// candidates returns the events that may be the outcome: those at the earliest time, before
// or when the context ended.
func (r *running) candidates(failed []event) []event {
	if !r.first() {
		return failed
	}
	return slices.DeleteFunc(earliest(failed), func(e event) bool {
		return r.ended != nil && r.ended.at < e.at && !r.plan.kind.apart && !r.plan.kind.raw
	})
}

// stopped reports whether err says that the context has ended, before any error, or that
// there was no place for the tasks.
func (r *running) stopped(ctx context.Context, err error) bool {
	switch name := r.plan.kind.name; {
	case name == "TryDo" && err == stint.ErrBusy, name == "Handler" && err == errRefused:
		return r.began[0] == 0
	case r.on != nil && r.on.closed.Load() && err == stint.ErrClosed:
		return true
	case ctx.Err() == nil || err != context.Cause(ctx):
		return false
	}
	return true
}

// all reports whether each task ran, besides those that were not accepted.
func (r *running) all() bool {
	for i, n := range r.began {
		if n != 1 && !(r.answered && !slices.Contains(r.accepted, i)) {
			return false
		}
	}
	return true
}

// checkFirst checks the outcome of First.
func (r *running) checkFirst(ctx context.Context, err error) {
	won := slices.ContainsFunc(r.events, func(e event) bool { return e.err == nil })
	if won != (err == nil) {
		r.fail("returned %v; events %v", err, r.events)
	}
	if err != nil && !r.stopped(ctx, err) {
		r.checkItems(ctx, err, r.events)
		if !r.all() {
			r.fail("returned %v; runs %v", err, r.began)
		}
	}
}

// checkItems checks the errors under KeepGoing: those of all items in order, and perhaps the
// reason why others did not run.
func (r *running) checkItems(ctx context.Context, err error, failed []event) {
	errs := members(err)
	if errs == nil || len(failed) == 0 { // the reason may have members too
		errs = []error{err}
	}
	if _, ok := errs[len(errs)-1].(*stint.ItemError); !ok {
		if !r.stopped(ctx, errs[len(errs)-1]) {
			r.fail("the last error is %v", errs[len(errs)-1])
		}
		errs = errs[:len(errs)-1]
	} else if !r.all() {
		r.fail("returned %v; runs %v", err, r.began)
	}
	var got, want []string
	for _, err := range errs {
		if item, ok := err.(*stint.ItemError); ok {
			i := item.Index
			if r.answered {
				i = r.accepted[i]
			}
			got = append(got, fmt.Sprintf("%d %p", i, item.Err))
		}
	}
	for _, e := range failed {
		want = append(want, fmt.Sprintf("%d %p", e.index, e.err))
	}
	slices.SortFunc(want, strings.Compare)
	if r.plan.kind.name == "Unordered" {
		slices.SortFunc(got, strings.Compare)
	}
	if !slices.Equal(got, want) {
		r.fail("errors %v, want %v", got, want)
	}
}

// earliest returns the first events, those of the same instant.
func earliest(events []event) []event {
	var first []event
	for _, e := range events {
		if len(first) == 0 || e.at == first[0].at {
			first = append(first, e)
		}
	}
	return first
}

// value is what the innermost task panicked with.
func value(v any) any {
	if p, ok := v.(*stint.PanicError); ok {
		return p.Value
	}
	return v
}
