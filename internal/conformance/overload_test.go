package conformance_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/httplimit"
)

// A narrowServer answers capacity requests at once, and refuses others.
type narrowServer struct {
	capacity, inside int64
	takes, refuses   time.Duration
	served, refused  int64

	mu  sync.Mutex
	rng *rand.Rand // spreads what an answer takes, unless nil
}

// enter reports whether there is room, and how long the answer takes.
func (s *narrowServer) enter() (ok bool, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inside == s.capacity {
		s.refused++
		return false, s.refuses
	}
	s.inside++
	s.served++
	took = s.takes
	if s.rng != nil {
		took = time.Duration(float64(took) * (0.8 + 0.4*s.rng.Float64()))
	}
	return true, took
}

func (s *narrowServer) answer() (ok bool) {
	ok, took := s.enter()
	time.Sleep(took)
	s.mu.Lock()
	defer s.mu.Unlock()
	if ok {
		s.inside--
	}
	return ok
}

// task is a request, whose error is errBoom if it is refused.
func (s *narrowServer) task(context.Context, int) error {
	if !s.answer() {
		return errBoom
	}
	return nil
}

// RoundTrip answers a request with 200 or 429.
func (s *narrowServer) RoundTrip(*http.Request) (*http.Response, error) {
	code := http.StatusOK
	if !s.answer() {
		code = http.StatusTooManyRequests
	}
	return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("text"))}, nil
}

// isBoom tells that a task has met overload.
var isBoom = stint.Overload(func(err error) bool { return err == errBoom })

// Overload lowers the limit time and again while fewer tasks run than it allows, so that none
// waits for a permit.
func TestOverloadWhileNoneWaits(t *testing.T) {
	onlySearches(t)
	for name, call := range map[string]func(context.Context, *stint.Limiter, *narrowServer){
		"Do": func(ctx context.Context, l *stint.Limiter, s *narrowServer) {
			l.Do(ctx, func(ctx context.Context) error { return s.task(ctx, 0) })
		},
		"Transport": func(ctx context.Context, l *stint.Limiter, s *narrowServer) {
			transport := &httplimit.Transport{Limiter: l, Base: s}
			req, _ := http.NewRequestWithContext(ctx, "GET", "http://narrow.test/", nil)
			if resp, err := transport.RoundTrip(req); err == nil {
				io.ReadAll(resp.Body)
				resp.Body.Close()
			}
		},
		"Each": func(ctx context.Context, l *stint.Limiter, s *narrowServer) { stint.Each(ctx, []int{0}, s.task, l) },
	} {
		bubble(t, name, func(t *testing.T) {
			l := stint.Auto(1, 1000, stint.Burst(600), isBoom) // starts at 200
			s := &narrowServer{capacity: 20, takes: 10 * time.Millisecond, refuses: 5 * time.Millisecond}
			ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
			defer stop()
			stint.Range(ctx, 1_000_000, func(ctx context.Context, _ int) error { call(ctx, l, s); return nil }, stint.Limit(60))
			if best := int64(20 * 20 * 100); s.served < best/2 || s.refused > s.served/20 || l.Current() > 40 {
				t.Errorf("%d requests are served, the best is %d; %d are refused; the limit is %d for a server of 20", s.served, best, s.refused, l.Current())
			}
		})
	}
}

// A server that refuses what is above its capacity is not taken for one that refuses for other
// reasons, even if a refusal takes as long as an answer or longer: refusals of tasks that started
// under a higher limit come under the lower one.
func TestSlowRefusalsAreLoad(t *testing.T) {
	onlySearches(t)
	const latency = 100 * time.Millisecond
	for _, c := range []struct {
		refusal time.Duration
		most    int64 // of a hundred tasks
	}{{latency / 10, 5}, {latency, 5}, {3 * latency, 8}} {
		for seed := range uint64(2) {
			bubble(t, fmt.Sprint(c.refusal), func(t *testing.T) { slowRefusals(t, seed, c.refusal, c.most) })
		}
	}
}

func slowRefusals(t *testing.T, seed uint64, refusal time.Duration, most int64) {
	const latency, capacity = 100 * time.Millisecond, 8
	limit := stint.Auto(1, 256, isBoom)
	s := &narrowServer{capacity: capacity, takes: latency, refuses: refusal, rng: rand.New(rand.NewPCG(seed, 7))}
	for _, until := range []time.Duration{10 * time.Second, 80 * time.Second} { // the search, and what is counted
		s.served, s.refused = 0, 0
		ctx, cancel := context.WithTimeout(t.Context(), until)
		stint.Range(ctx, 1_000_000, s.task, stint.KeepGoing(), limit)
		cancel()
	}
	share, of := 100*s.refused/(s.served+s.refused), float64(s.served)/(80*capacity/latency.Seconds())
	if share > most || of < 0.85 {
		t.Errorf("%d %% are refused, %.2f of the best throughput; limit %d", share, of, limit.Current())
	}
}

// One overloaded task of a thousand, or of a hundred slow ones, does not lower the limit
// while none waits.
func TestStrayOverloadsLowerNothing(t *testing.T) {
	onlySearches(t)
	for _, s := range []struct {
		took    time.Duration
		callers int
		one     uint64 // task of so many is overloaded
	}{{0, 1, 1000}, {time.Millisecond, 1, 1000}, {10 * time.Second, 60, 100}} {
		bubble(t, s.took.String(), func(t *testing.T) { strayOverloads(t, s.took, s.callers, s.one) })
	}
}

func strayOverloads(t *testing.T, took time.Duration, callers int, one uint64) {
	l := stint.Auto(1, 1000, stint.Burst(600), isBoom)
	before := l.Current()
	var n atomic.Uint64
	task := func(context.Context) error {
		time.Sleep(took)
		if n.Add(1)%one == 0 {
			return errBoom
		}
		return nil
	}
	stint.Range(t.Context(), 10_000, func(ctx context.Context, i int) error {
		if i < callers {
			time.Sleep(took * time.Duration(i) / time.Duration(callers)) // tasks end one by one
		}
		l.Do(ctx, task)
		return nil
	}, stint.Limit(callers))
	if now := l.Current(); now < before || l.Stats().Backoffs != 0 || l.Stats().Running != 0 {
		t.Errorf("the limit falls from %d to %d; %+v", before, now, l.Stats())
	}
}
