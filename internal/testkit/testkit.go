// Package testkit has what the tests of several packages use: comparisons, the time of a
// bubble of testing/synctest, and a Gauge of tasks.
package testkit

import (
	"iter"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/internal/goroutine"
)

// SinceBubble is the time since the start of the bubble, which is the year 2000.
func SinceBubble() time.Duration {
	return time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
}

// Took fails the test unless exactly want has passed since start, in a bubble.
func Took(t *testing.T, start time.Time, want time.Duration) {
	t.Helper()
	Equal(t, "time taken", time.Since(start), want)
}

// Equal fails the test if got is not want.
func Equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// Count yields 0 to n-1.
func Count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// Indexes returns 0 to n-1.
func Indexes(n int) []int { return slices.AppendSeq(make([]int, 0, n), Count(n)) }

// Recovered calls f and returns what it panicked with.
func Recovered(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// Leaving calls f on a goroutine of its own, which a Goexit may end, and returns what f panicked
// with.
func Leaving(f func()) (v any) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { v = recover() }() // also of a panic during a Goexit
		f()
	}()
	<-done
	return v
}

// NoneLeft fails the test if a goroutine of the library is left when the others of the
// bubble wait or have ended.
func NoneLeft(t *testing.T) {
	t.Helper()
	synctest.Wait()
	goroutine.NoneLeft(t)
}

// Bubble runs a subtest in a bubble. No goroutine of the library may be left at its end.
func Bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			defer NoneLeft(t)
			test(t)
		})
	})
}

// A Gauge counts the tasks inside it.
type Gauge struct {
	mu              sync.Mutex
	now, max, total int
}

// Enter is called when a task starts.
func (g *Gauge) Enter() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now++
	g.total++
	g.max = max(g.max, g.now)
}

// Leave is called when a task ends.
func (g *Gauge) Leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now--
}

// Hold is a task that stays inside for d.
func (g *Gauge) Hold(d time.Duration) {
	g.Enter()
	defer g.Leave()
	time.Sleep(d)
}

// Read returns the number of tasks inside, the maximum, and the total.
func (g *Gauge) Read() (now, most, total int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.now, g.max, g.total
}

// Now returns the number of tasks inside.
func (g *Gauge) Now() int { now, _, _ := g.Read(); return now }

// Max returns the most tasks that were inside at once.
func (g *Gauge) Max() int { _, most, _ := g.Read(); return most }

// Total returns the number of tasks that have entered.
func (g *Gauge) Total() int { _, _, total := g.Read(); return total }

// Is fails the test if the gauge shows something else.
func (g *Gauge) Is(t *testing.T, now, most, total int) {
	t.Helper()
	if n, m, all := g.Read(); n != now || m != most || all != total {
		t.Errorf("now %d, at most %d, in all %d; want %d, %d, %d", n, m, all, now, most, total)
	}
}

// Runs fails the test if the number of tasks inside is not n when all others wait.
func (g *Gauge) Runs(t *testing.T, n int) {
	t.Helper()
	synctest.Wait()
	if now := g.Now(); now != n {
		t.Errorf("%v: %d tasks run, want %d", SinceBubble(), now, n)
	}
}
