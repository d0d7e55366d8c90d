package conformance_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/httplimit"
)

// A refusing is a server with slots that refuses some tasks after 5 ms, whatever the load, and all
// of them for a second.
type refusing struct {
	latency time.Duration
	slots   int
	share   float64 // refused at random
	every   int     // and one task of so many
	outage  bool    // from the fifth second to the sixth
	best    float64 // of the best throughput that is to be reached from the tenth second on
}

func (r refusing) String() string {
	return fmt.Sprintf("%d slots of %v, share %.3f, one of %d, outage %v", r.slots, r.latency, r.share, r.every, r.outage)
}

// A refusals is the server at work.
type refusals struct {
	refusing
	mu    sync.Mutex
	rng   *rand.Rand
	begun int
	good  int // after the tenth second
	start time.Time
	slot  chan bool
}

func (r refusing) open() *refusals {
	return &refusals{refusing: r, rng: rand.New(rand.NewPCG(1, 2)), start: time.Now(), slot: make(chan bool, r.slots)}
}

// answer serves a task, and reports whether it did.
func (r *refusals) answer() bool {
	r.mu.Lock()
	r.begun++
	since := time.Since(r.start)
	ok := !(r.rng.Float64() < r.share || r.every > 0 && r.begun%r.every == 0 || r.outage && since/time.Second == 5)
	took := time.Duration(float64(r.latency) * (0.8 + 0.4*r.rng.Float64()))
	r.mu.Unlock()
	if !ok {
		time.Sleep(5 * time.Millisecond)
		return false
	}
	r.slot <- true
	time.Sleep(took)
	<-r.slot
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.start) > 10*time.Second {
		r.good++
	}
	return true
}

// Refusals that do not depend on the load leave the limit where throughput is best: also while it
// rises after an outage, when one refused task is a large share of those that run.
func TestRefusalsThatAreNotLoad(t *testing.T) {
	onlySearches(t)
	for _, c := range []refusing{
		{100 * time.Millisecond, 20, 0.01, 0, true, 0.9},
		{100 * time.Millisecond, 20, 0, 50, true, 0.9},
		{100 * time.Millisecond, 100, 1.0 / 30, 0, false, 0.8},
		{100 * time.Millisecond, 4, 1.0 / 30, 0, true, 0.8},
		{10 * time.Millisecond, 20, 0.01, 0, true, 0.9},
		{10 * time.Millisecond, 1, 1.0 / 30, 0, true, 0.8},
		{10 * time.Millisecond, 4, 0.1, 0, false, 0.8},   // more than may be, but lowering changes nothing
		{10 * time.Millisecond, 20, 0.1, 0, false, 0.65}, // at times the limit falls to a quarter
		{2 * time.Millisecond, 20, 1.0 / 30, 0, true, 0.8},
		{2 * time.Millisecond, 20, 0, 1000, true, 0.9},
	} {
		synctest.Test(t, func(t *testing.T) { servesItsBest(t, c) })
	}
}

func servesItsBest(t *testing.T, c refusing) {
	limit := stint.Auto(1, 256, isBoom)
	r := c.open()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	stint.Range(ctx, 1_000_000, func(context.Context, int) error {
		if !r.answer() {
			return errBoom
		}
		return nil
	}, stint.KeepGoing(), limit)
	if x := float64(r.good) / (10 / c.latency.Seconds() * float64(c.slots)); x < c.best {
		t.Errorf("%v: %.2f of the best throughput, want %.2f; the limit is %d, %d backoffs", c, x, c.best, limit.Current(), limit.Stats().Backoffs)
	}
}

// One of 1,000 answers is a 503 with Retry-After: 30. After a second in which all were, the limit
// is held down for half a minute, and then no longer.
func TestRareRetryAfter(t *testing.T) {
	onlySearches(t)
	synctest.Test(t, func(t *testing.T) {
		limit := stint.Auto(1, 16)
		r := refusing{latency: 20 * time.Millisecond, slots: 16, every: 1000, outage: true}.open()
		client := &httplimit.Transport{Limiter: limit, Base: roundTripper(func(*http.Request) (*http.Response, error) {
			resp := &http.Response{StatusCode: 200, Body: http.NoBody, Header: http.Header{}}
			if !r.answer() {
				resp.StatusCode = 503
				resp.Header.Set("Retry-After", "30")
			}
			return resp, nil
		})}
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		time.AfterFunc(35*time.Second, func() {
			if n := limit.Current(); n > 1 {
				t.Errorf("limit %d 29 s after the outage", n)
			}
		})
		calls200(ctx, 1_000_000, func(int) {
			req, _ := http.NewRequestWithContext(ctx, "GET", "http://x/", nil)
			client.RoundTrip(req)
		})
		if per := r.good / 80; per < 475 { // 800 while it may
			t.Errorf("%d answers a second, limit %d", per, limit.Current())
		}
	})
}

// A server takes any rate, but refuses growth of more than a fifth in a second. The best is
// 2,560 a second, that of 256 tasks of 0.1 s.
func TestGrowthIsRefused(t *testing.T) {
	onlySearches(t)
	synctest.Test(t, func(t *testing.T) {
		limit := stint.Auto(1, 256, isBoom)
		start, good := time.Now(), 0
		second, taken, before := 0, 0, 400
		var mu sync.Mutex
		admit := func() bool {
			mu.Lock()
			defer mu.Unlock()
			if s := int(time.Since(start) / time.Second); s > second {
				second, before, taken = s, max(400, taken), 0
			}
			if float64(taken) >= 1.2*float64(before) {
				return false
			}
			if taken++; second >= 60 {
				good++
			}
			return true
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		stint.Range(ctx, 1_000_000, func(context.Context, int) error {
			if !admit() {
				time.Sleep(5 * time.Millisecond)
				return errBoom
			}
			time.Sleep(100 * time.Millisecond)
			return nil
		}, stint.KeepGoing(), limit)
		if good/60 < 1000 {
			t.Errorf("%d a second in the second minute; limit %d, %d backoffs", good/60, limit.Current(), limit.Stats().Backoffs)
		}
	})
}
