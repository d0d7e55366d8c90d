package auto

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A boundStep sets bounds, and then finishes some tasks.
type boundStep struct {
	low, high int
	tasks     int
	want, max int // the limit at once, and the highest that is wanted later; 0: the same
}

// TestBounds has a server of 30 slots, whose search holds 30.
func TestBounds(t *testing.T) {
	for name, steps := range map[string][]boundStep{
		"maximum":             {{1, 10, 5000, 10, 0}, {1, 256, 0, 30, 0}},
		"rises":               {{1, 10, 100, 10, 0}, {1, 20, 100, 20, 0}, {1, 29, 100, 29, 0}, {1, 30, 0, 30, 0}},
		"one limit":           {{8, 8, 5000, 8, 0}, {50, 50, 5000, 50, 0}, {1, 256, 0, 30, 0}},
		"pause":               {{0, 0, 0, 0, 0}, {1, 256, 0, 30, 0}},
		"pause below":         {{1, 10, 0, 10, 0}, {0, 0, 0, 0, 0}, {1, 256, 0, 30, 0}},
		"as wide as before":   {{1, 256, 5000, 30, 60}},
		"minimum":             {{60, 200, 20000, 60, 200}, {1, 256, 0, 60, 200}},
		"no more than wanted": {{1, 30, 5000, 30, 0}},
	} {
		d := held(30)
		for i, s := range steps {
			d.setBounds(d.now, s.low, s.high)
			if got := d.within(d.limit); got != s.want && s.max == 0 || got < s.want || got > max(s.want, s.max) {
				t.Errorf("%s, step %d: limit %d, want %d", name, i, got, s.want)
			}
			for range s.tasks {
				d.serve(1, slotted(30))
				if n := d.within(d.limit); n < s.low || n > s.high || s.max > 0 && n > s.max {
					t.Fatalf("%s, step %d: limit %d", name, i, n)
				}
			}
		}
	}
}

// TestBoundsRaiseTheMaximum has a search that has reached its maximum: it goes on.
func TestBoundsRaiseTheMaximum(t *testing.T) {
	d := newFedSearch(Config{Min: 1, Max: 10, Burst: 36, Procs: 2})
	if d.serve(2000, slotted(100)); d.limit < 8 {
		t.Fatalf("limit %d of 10", d.limit)
	}
	d.setBounds(d.now, 1, 256)
	if d.serve(4000, slotted(100)); d.limit < 80 {
		t.Errorf("limit %d, the server has 100 slots: %q", d.limit, d.notes)
	}
}

// TestBoundsInSlowStart lets the limit start at once where it would have without bounds.
func TestBoundsInSlowStart(t *testing.T) {
	d := newFedSearch(usual)
	d.setBounds(d.now, 1, 2)
	d.serve(100, slotted(100))
	if d.setBounds(d.now, 1, 256); d.within(d.limit) != usual.Start() {
		t.Errorf("limit %d, want %d", d.within(d.limit), usual.Start())
	}
	d.setBounds(d.now, 1, 50)
	if d.serve(5000, slotted(100)); slices.Max(d.limits) > 50 || d.limit < 40 {
		t.Errorf("limits %v with 50 at most", d.limits)
	}
}

// TestOverloadWhileBound wants that what overloads is what has run.
func TestOverloadWhileBound(t *testing.T) {
	d := held(100)
	d.setBounds(d.now, 1, 10)
	for range 10 {
		d.overloaded(d.now, d.now)
		d.failed(d.now, 1, time.Millisecond)
	}
	if d.limit > 7 || d.backoffs == 0 {
		t.Errorf("limit %d after overload with 10", d.limit)
	}
}

// TestRandomBounds changes bounds at random, while tasks finish. The limit stays within them; while
// they hold it, the search wants what it wanted.
func TestRandomBounds(t *testing.T) {
	for round := range uint64(100) {
		rng := rand.New(rand.NewPCG(*seed, round))
		d := newFedSearch(usual)
		low, high := 1, 256
		for range 60 {
			switch low = 1 + rng.IntN(60); rng.IntN(4) {
			case 0:
				low, high = 0, 0
			case 1:
				high = low
			default:
				high = low + rng.IntN(200)
			}
			d.setBounds(d.now, low, high)
			for range rng.IntN(300) * min(high, 1) {
				wants, bound, stalled := d.limit, d.isBound(), d.beforeStall > 0
				d.serve(1, slotted(1+int(round)%50))
				if bound && d.limit != wants && !stalled {
					t.Fatalf("round %d: wants %d instead of %d, bounds of %d and %d", round, d.limit, wants, low, high)
				}
				if n := d.within(d.limit); n < low || n > high {
					t.Fatalf("round %d: limit %d, bounds of %d and %d", round, n, low, high)
				}
				if rng.IntN(50) == 0 && !d.isBound() {
					d.now += time.Second
					d.stall(d.now)
				}
			}
		}
	}
}

// TestPauseOfASearch has tasks wait during a pause: nothing happens in it, and the search goes on
// after it, though no other task begins to wait.
func TestPauseOfASearch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := controlled(usual)
		samplers := make([]Sampler, 256)
		c.NotifyWaiting()
		work(c, p, samplers, 100*time.Millisecond, time.Millisecond)
		changes := c.State().Changes
		before := changes[len(changes)-1].Limit // not one that is only probed
		c.SetBounds(0, 0)
		time.Sleep(time.Minute)
		looks := p.looked()
		if time.Sleep(time.Hour); p.bound() != 0 || p.looked() != looks || c.isArmed() {
			t.Errorf("limit %d, %d looks in a pause, armed %v", p.bound(), p.looked()-looks, c.isArmed())
		}
		if c.SetBounds(1, 256); p.bound() != before || !c.Active() || !c.isArmed() {
			t.Errorf("limit %d after a pause, %d before; active %v", p.bound(), before, c.Active())
		}
		var got []string
		for _, change := range c.State().Changes {
			got = append(got, change.Reason)
		}
		if n := len(got); !slices.Equal(got[n-2:], []string{"bounds set by hand: 0 to 0", "bounds set by hand: 1 to 256"}) {
			t.Errorf("%q", got)
		}
		c.Close()
	})
}

// TestBoundsAndFix has bounds before and after the end of the search, and of a limit without one.
func TestBoundsAndFix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, fixed := new(fakeLimiter), new(Controller)
		p.limit = 8
		fixed.InitFixed(8, p)
		searching, q := controlled(usual)
		searching.SetBounds(1, 2)
		searching.Fix(8)
		for c, p := range map[*Controller]*fakeLimiter{fixed: p, searching: q} {
			for _, b := range [][3]int{{1, 3, 3}, {1, 100, 8}, {20, 30, 20}, {0, 0, 0}, {1, 9, 8}} {
				if c.SetBounds(b[0], b[1]); p.bound() != b[2] {
					t.Errorf("limit %d with bounds of %d and %d, want %d", p.bound(), b[0], b[1], b[2])
				}
			}
			if c.Fix(20); p.bound() != 20 || c.Active() || c.State().Phase != Fixed {
				t.Errorf("limit %d, want 20: %+v", p.bound(), c.State())
			}
			c.Close()
		}
	})
}
