package conformance_test

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/httplimit"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// outside are the ways to run n tasks on goroutines that stint has not started: by Do, and as
// requests.
func outside() []entryPoint {
	return []entryPoint{
		{"Do", func(ctx context.Context, n int, f body, opts ...stint.Option) error {
			l := opts[len(opts)-1].(*stint.Limiter)
			return calls200(ctx, n, func(i int) {
				l.Do(ctx, func(ctx context.Context) error { return f(ctx, i) })
			})
		}},
		{"Transport", func(ctx context.Context, n int, f body, opts ...stint.Option) error {
			return calls200(ctx, n, func(i int) {
				transport := httplimit.Transport{Limiter: opts[len(opts)-1].(*stint.Limiter), Base: roundTrip(func(req *http.Request) (*http.Response, error) {
					return nil, f(req.Context(), i)
				})}
				req, _ := http.NewRequestWithContext(ctx, "GET", "http://x/", nil)
				transport.RoundTrip(req)
			})
		}},
	}
}

// calls200 makes n calls of f on up to 200 goroutines.
func calls200(ctx context.Context, n int, f func(i int)) error {
	return stint.Range(ctx, n, func(_ context.Context, i int) error { f(i); return nil }, stint.Limit(200))
}

// Tasks that fail are no throughput. While a server of 8 slots is down, calls fail after a
// millisecond; it would meet as many calls as the limit when it comes back.
func TestFailuresDoNotRaiseTheLimit(t *testing.T) {
	for _, e := range append(drivers(), outside()...) {
		synctest.Test(t, func(t *testing.T) {
			limit := stint.Auto(1, 200)
			opts := []stint.Option{stint.KeepGoing(), limit}
			if e.name == "Pool" {
				opts = opts[1:]
			}
			slots := make(chan bool, 8)
			start, up, down := time.Now(), 3*time.Second, 5*time.Second
			var read [2]atomic.Int32
			for i, when := range []time.Duration{up, down} {
				time.AfterFunc(when-1, func() { read[i].Store(int32(limit.Current())) })
			}
			ctx, cancel := context.WithTimeout(t.Context(), down)
			defer cancel()
			e.run(ctx, 1_000_000, func(ctx context.Context, _ int) error {
				if since := time.Since(start); ctx.Err() != nil || since >= down {
					return errBoom
				} else if since > up {
					time.Sleep(time.Millisecond)
					if e.name == "Pool" {
						runtime.Goexit()
					}
					return errBoom
				}
				slots <- true
				time.Sleep(10 * time.Millisecond)
				<-slots
				return nil
			}, opts...)
			before, after := read[0].Load(), read[1].Load()
			if before == 0 || after == 0 || after > 2*before {
				t.Errorf("%s: the limit is %d before calls fail, and %d after", e.name, before, after)
			}
		})
	}
}

// A server of 8 slots fails three calls of ten after the usual time, or all: the search finds
// the limit, or keeps it where it was.
func TestSomeAlwaysFail(t *testing.T) {
	for _, share := range []int{3, 10} {
		synctest.Test(t, func(t *testing.T) {
			limit := stint.Auto(1, 256)
			begin, n, served := limit.Current(), 0, 0
			slots, lock := make(chan bool, 40), make(chan bool, 1)
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			stint.Range(ctx, 1_000_000, func(context.Context, int) error {
				slots <- true
				time.Sleep(20 * time.Millisecond)
				<-slots
				lock <- true
				defer func() { <-lock }()
				served++
				if n++; n%10 < share {
					return errBoom
				}
				return nil
			}, stint.KeepGoing(), limit)
			if now := limit.Current(); share == 10 && now != begin || share < 10 && served < 30*2000*9/10 {
				t.Errorf("%d of 10 fail: limit %d, %d at first; %d are served, 60,000 is the best", share, now, begin, served)
			}
		})
	}
}

// A task counts as finished if a function of the caller that is told of its failure panics or
// calls Goexit.
func TestCountedBeforeFunctionsOfTheCaller(t *testing.T) {
	ends := map[string]func(){"returns": func() {}, "panics": func() { panic("broken") }, "Goexit": runtime.Goexit}
	names := []string{"returns", "panics", "Goexit"}
	ways := append(searching(), outside()...)
	for _, name := range names {
		end := ends[name]
		for _, e := range ways {
			l := stint.Auto(1, 4, stint.Overload(func(error) bool { end(); return true }))
			var wg sync.WaitGroup
			wg.Go(func() {
				defer func() { recover() }()
				e.run(context.Background(), 1, func(context.Context, int) error { return errors.New("x") }, l)
			})
			wg.Wait()
			if s := l.Stats(); s.Completed != 1 || s.Failed != 1 || s.Running != 0 {
				t.Errorf("%s, the function of Overload %s: completed %d, failed %d, running %d", e.name, name, s.Completed, s.Failed, s.Running)
			}
		}
	}
	for _, name := range slices.DeleteFunc(names, func(s string) bool { return s == "panics" }) { // which crashes the process
		l := stint.Auto(1, 4)
		p := stint.NewPool(l, stint.OnPanic(func(*stint.PanicError) { ends[name]() }))
		p.Go(func(context.Context) { panic("task") })
		p.Close()
		if s, q := l.Stats(), p.Stats(); s.Completed != 1 || s.Failed != 1 || q.Completed != 1 || q.Failed != 1 {
			t.Errorf("OnPanic %s: %+v, %+v", name, s, q)
		}
	}
}
