package conformance_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// outside are the ways to run n tasks on goroutines that stint has not started: by Do, and as
// requests.
func outside() []entryPoint {
	on := func(call func(l *stint.Limiter, ctx context.Context, f func(context.Context) error)) run {
		return func(ctx context.Context, n int, f body, opts ...stint.Option) error {
			l := opts[len(opts)-1].(*stint.Limiter)
			return calls200(ctx, n, func(i int) { call(l, ctx, func(ctx context.Context) error { return f(ctx, i) }) })
		}
	}
	return []entryPoint{
		{"Do", on(func(l *stint.Limiter, ctx context.Context, f func(context.Context) error) { l.Do(ctx, f) })},
		{"Transport", on(func(l *stint.Limiter, ctx context.Context, f func(context.Context) error) {
			throughTransport(l, ctx, f)
		})},
	}
}

// calls200 makes n calls of f on up to 200 goroutines.
func calls200(ctx context.Context, n int, f func(i int)) error {
	return stint.Range(ctx, n, func(_ context.Context, i int) error { f(i); return nil }, stint.Limit(200))
}

// Tasks that fail are no throughput. While a server of 8 slots is down, calls fail after a
// millisecond; it would meet as many calls as the limit when it comes back.
func TestFailuresDoNotRaiseTheLimit(t *testing.T) {
	onlySearches(t)
	for _, e := range append(drivers(), outside()...) {
		bubble(t, e.name, func(t *testing.T) { goesDown(t, e) })
	}
}

func goesDown(t *testing.T, e entryPoint) {
	const up, down = 2 * time.Second, 3 * time.Second
	limit := stint.Auto(1, 200)
	opts, fail := []stint.Option{stint.KeepGoing(), limit}, func() error { return errBoom }
	if e.name == "Pool" {
		opts, fail = opts[1:], func() error { runtime.Goexit(); return nil }
	}
	var before, after atomic.Int64
	time.AfterFunc(up-1, func() { before.Store(int64(limit.Current())) })
	time.AfterFunc(down-1, func() { after.Store(int64(limit.Current())) })
	slots := make(chan bool, 8)
	ctx, cancel := context.WithTimeout(t.Context(), down)
	defer cancel()
	e.run(ctx, 1_000_000, func(ctx context.Context, _ int) error {
		if sinceBubble() >= down {
			return errBoom
		}
		if sinceBubble() > up {
			time.Sleep(time.Millisecond)
			return fail()
		}
		slots <- true
		time.Sleep(10 * time.Millisecond)
		<-slots
		return nil
	}, opts...)
	if b, a := before.Load(), after.Load(); b == 0 || a == 0 || a > 2*b {
		t.Errorf("the limit is %d before calls fail, and %d after", b, a)
	}
}

// A server of 8 slots fails three calls of ten after the usual time, or all: the search finds
// the limit, or keeps it where it was.
func TestSomeAlwaysFail(t *testing.T) {
	onlySearches(t)
	for _, share := range []int64{3, 10} {
		synctest.Test(t, func(t *testing.T) { failAlways(t, share) })
	}
}

func failAlways(t *testing.T, share int64) {
	limit := stint.Auto(1, 256)
	begin := limit.Current()
	slots := make(chan bool, 40)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var served atomic.Int64
	stint.Range(ctx, 1_000_000, func(context.Context, int) error {
		slots <- true
		time.Sleep(20 * time.Millisecond)
		<-slots
		if served.Add(1)%10 < share {
			return errBoom
		}
		return nil
	}, stint.KeepGoing(), limit)
	if now := limit.Current(); share == 10 && now != begin || share < 10 && served.Load() < 30*2000*9/10 {
		t.Errorf("%d of 10 fail: limit %d, %d at first; %d are served, 60,000 is the best", share, now, begin, served.Load())
	}
}

// A task counts as finished if a function of the caller that is told of its failure panics or
// calls Goexit.
func TestCountedBeforeFunctionsOfTheCaller(t *testing.T) {
	for name, end := range map[string]func(){"returns": func() {}, "panics": func() { panic("broken") }, "Goexit": runtime.Goexit} {
		for _, e := range append(searching(), outside()...) {
			asked := 0
			l := stint.Auto(1, 4, stint.Overload(func(error) bool { asked++; end(); return true }))
			leaving(func() { e.run(bg, 1, func(context.Context, int) error { return errBoom }, l) })
			if s := l.Stats(); asked != 1 || s.Completed != 1 || s.Failed != 1 || s.Running != 0 {
				t.Errorf("%s, the function of Overload, called %d times, %s: completed %d, failed %d, running %d", e.name, asked, name, s.Completed, s.Failed, s.Running)
			}
		}
		if name == "panics" {
			continue // one in OnPanic crashes the process
		}
		l := stint.Auto(1, 4)
		p := stint.NewPool(l, stint.OnPanic(func(*stint.PanicError) { end() }))
		p.Go(func(context.Context) { panic("task") })
		p.Close()
		if s, q := l.Stats(), p.Stats(); s.Completed != 1 || s.Failed != 1 || q.Completed != 1 || q.Failed != 1 {
			t.Errorf("OnPanic %s: %+v, %+v", name, s, q)
		}
	}
}
