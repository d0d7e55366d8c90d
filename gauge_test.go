package stint_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A gauge counts how many tasks are inside it, and the most that ever were.
type gauge struct {
	mu              sync.Mutex
	now, max, total int
}

func (g *gauge) enter() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now++
	g.total++
	g.max = max(g.max, g.now)
}

func (g *gauge) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now--
}

// hold is a task that stays inside for a while.
func (g *gauge) hold(d time.Duration) {
	g.enter()
	defer g.leave()
	time.Sleep(d)
}

// inside returns how many tasks are inside now.
func (g *gauge) inside() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.now
}

// peak returns the most tasks that were inside at once.
func (g *gauge) peak() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.max
}

// is fails the test if the gauge shows something else.
func (g *gauge) is(t *testing.T, now, most, total int) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.now != now || g.max != most || g.total != total {
		t.Errorf("now %d, at most %d, in all %d; want %d, %d, %d", g.now, g.max, g.total, now, most, total)
	}
}

// runs fails the test if the number of tasks inside is not n once all is still.
func (g *gauge) runs(t *testing.T, n int) {
	t.Helper()
	synctest.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.now != n {
		t.Errorf("%v: %d tasks run, want %d", sinceBubble(), g.now, n)
	}
}

// sinceBubble is the time of a bubble, which begins with the year 2000.
func sinceBubble() time.Duration {
	return time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
}

// count yields 0 to n-1.
func count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// sleep returns a task that takes d.
func sleep(d time.Duration) func(context.Context) error {
	return func(context.Context) error { time.Sleep(d); return nil }
}

// took fails the test if anything but want has passed since start, in the time
// of a bubble.
func took(t *testing.T, start time.Time, want time.Duration) {
	t.Helper()
	if got := time.Since(start); got != want {
		t.Errorf("took %v, want %v", got, want)
	}
}

// equal fails the test if got is not want.
func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// recovered calls f and returns what it panicked with.
func recovered(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// goroutine returns the number of the one that calls it.
func goroutine() (n int) {
	var buf [64]byte
	fmt.Sscanf(string(buf[:runtime.Stack(buf[:], false)]), "goroutine %d ", &n)
	return n
}

// ours returns the stacks of the goroutines that are in code of the library or
// were started by it, in a bubble only those of the bubble. Call synctest.Wait
// before: a goroutine that has told its owner of its end needs a moment to be gone.
// Outside a bubble ours gives all of them that moment.
func ours() []string {
	var found []string
	for range 1000 {
		buf := make([]byte, 1<<20)
		stacks := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
		bubble := bubbleOf(stacks[0]) // the first is the caller's
		found = nil
		for _, stack := range stacks {
			library := strings.Contains(stack, "github.com/stint-go/stint.") || strings.Contains(stack, "github.com/stint-go/stint/internal/")
			if library && bubbleOf(stack) == bubble {
				found = append(found, stack)
			}
		}
		if bubble != "" || len(found) == 0 {
			break
		}
		runtime.Gosched()
	}
	return found
}

// bubbleOf returns what the first line of a stack says of the goroutine's bubble.
func bubbleOf(stack string) string {
	header, _, _ := strings.Cut(stack, "\n")
	_, bubble, _ := strings.Cut(header, "synctest bubble ")
	return bubble
}

// noneLeft fails the test if the library has a goroutine once all is still in the
// bubble of the test.
func noneLeft(t *testing.T) {
	t.Helper()
	synctest.Wait()
	noGoroutines(t)
}

// noGoroutines fails the test if the library has a goroutine.
func noGoroutines(t *testing.T) {
	t.Helper()
	if left := ours(); len(left) > 0 {
		t.Errorf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
	}
}
