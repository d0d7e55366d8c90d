package conformance_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/httplimit"
	"github.com/stint-go/stint/internal/testkit"
)

// A narrowServer answers capacity requests at once in 10 ms each, and refuses others after 5 ms.
type narrowServer struct {
	capacity        int
	inside          atomic.Int64
	served, refused atomic.Int64
}

func (s *narrowServer) answer() (ok bool) {
	defer s.inside.Add(-1)
	if int(s.inside.Add(1)) > s.capacity {
		time.Sleep(5 * time.Millisecond)
		s.refused.Add(1)
		return false
	}
	time.Sleep(10 * time.Millisecond)
	s.served.Add(1)
	return true
}

// RoundTrip answers a request with 200 or 429.
func (s *narrowServer) RoundTrip(*http.Request) (*http.Response, error) {
	code := http.StatusOK
	if !s.answer() {
		code = http.StatusTooManyRequests
	}
	return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("text"))}, nil
}

// Overload lowers the limit time and again while fewer tasks run than it allows, so that none
// waits for a permit.
func TestOverloadWhileNoneWaits(t *testing.T) {
	isRefused := stint.Overload(func(err error) bool { return err == errBoom })
	for name, call := range map[string]func(context.Context, *stint.Limiter, *narrowServer){
		"Do": func(ctx context.Context, l *stint.Limiter, s *narrowServer) {
			l.Do(ctx, func(context.Context) error {
				if !s.answer() {
					return errBoom
				}
				return nil
			})
		},
		"Transport": func(ctx context.Context, l *stint.Limiter, s *narrowServer) {
			transport := &httplimit.Transport{Limiter: l, Base: s}
			req, _ := http.NewRequestWithContext(ctx, "GET", "http://narrow.test/", nil)
			if resp, err := transport.RoundTrip(req); err == nil {
				io.ReadAll(resp.Body)
				resp.Body.Close()
			}
		},
		"Each": func(ctx context.Context, l *stint.Limiter, s *narrowServer) {
			stint.Each(ctx, []int{0}, func(context.Context, int) error {
				if !s.answer() {
					return errBoom
				}
				return nil
			}, l)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := stint.Auto(1, 1000, stint.Burst(600), isRefused) // starts at 200
			s := &narrowServer{capacity: 20}
			ctx, stop := context.WithTimeout(t.Context(), 60*time.Second)
			defer stop()
			var callers sync.WaitGroup
			for range 60 {
				callers.Go(func() {
					for ctx.Err() == nil {
						call(ctx, l, s)
					}
				})
			}
			callers.Wait()
			served, refused := s.served.Load(), s.refused.Load()
			if best := int64(60 * 20 * 100); served < best/2 || refused > served/20 || l.Current() > 40 {
				t.Errorf("%s: %d requests are served, the best is %d; %d are refused; the limit is %d for a server of 20", name, served, best, refused, l.Current())
			}
		})
	}
}

// One overloaded task of a thousand, or of a hundred slow ones, does not lower the limit
// while none waits.
func TestStrayOverloadsLowerNothing(t *testing.T) {
	for _, s := range []struct {
		took    time.Duration
		callers int
		one     uint64 // task of so many is overloaded
	}{{0, 1, 1000}, {time.Millisecond, 1, 1000}, {10 * time.Second, 60, 100}} {
		synctest.Test(t, func(t *testing.T) {
			l := stint.Auto(1, 1000, stint.Burst(600), stint.Overload(func(err error) bool { return err == errBoom }))
			before := l.Current()
			var n atomic.Uint64
			var callers sync.WaitGroup
			for i := range s.callers {
				callers.Go(func() {
					time.Sleep(s.took * time.Duration(i) / time.Duration(s.callers)) // tasks end one by one
					for n.Load() < 20_000 {
						l.Do(t.Context(), func(context.Context) error {
							time.Sleep(s.took)
							if n.Add(1)%s.one == 0 {
								return errBoom
							}
							return nil
						})
					}
				})
			}
			callers.Wait()
			if now := l.Current(); now < before || l.Stats().Backoffs != 0 {
				t.Errorf("tasks of %v: the limit falls from %d to %d; %+v", s.took, before, now, l.Stats())
			}
			testkit.Equal(t, "permits held", l.Stats().Running, 0)
		})
	}
}
