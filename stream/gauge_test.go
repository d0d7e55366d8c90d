package stream_test

import (
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

var (
	errBoom = errors.New("boom")
	errGone = errors.New("gone")
)

// A gauge counts how many calls are inside it, and the most that ever were.
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

// hold is a call that stays inside for a while.
func (g *gauge) hold(d time.Duration) {
	g.enter()
	defer g.leave()
	time.Sleep(d)
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

// begun returns how many calls there were.
func (g *gauge) begun() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.total
}

// sinceBubble is the time of a bubble, which begins with the year 2000.
func sinceBubble() time.Duration {
	return time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
}

// took fails the test if anything but want has passed since start, in the time
// of a bubble.
func took(t *testing.T, start time.Time, want time.Duration) {
	t.Helper()
	if got := time.Since(start); got != want {
		t.Errorf("took %v, want %v", got, want)
	}
}

// about fails the test if got is less than want, or some lingers more.
func about(t *testing.T, got, want time.Duration) {
	t.Helper()
	if got < want || got > want+50*linger {
		t.Errorf("took %v, want %v and a few ms", got, want)
	}
}

// equal fails the test if got is not want.
func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// same fails the test if got has other records than want, or in another order.
func same[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	t.Errorf("%s: %d records, want %d; they differ from record %d on: %v, want %v", what, len(got), len(want), i, head(got[i:]), head(want[i:]))
}

// head returns the first records.
func head[T any](s []T) []T { return s[:min(len(s), 5)] }

// sorted returns a sorted copy.
func sorted(s []int) []int { return slices.Sorted(slices.Values(s)) }

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

// indexes returns 0 to n-1.
func indexes(n int) []int { return slices.Collect(count(n)) }

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

// usage is the limit, and how many places are taken and are waited for.
func usage(l *stint.Limiter) [3]int {
	s := l.Stats()
	return [3]int{s.Limit, s.Running, s.Waiting}
}

// ours returns the stacks of the goroutines that are in code of the library or
// were started by it, in a bubble only those of the bubble. Call synctest.Wait
// before: a goroutine that has told its owner of its end needs a moment to be gone.
// Outside a bubble ours gives all of them that moment.
func ours() []string {
	var found []string
	for range 1000 {
		stacks := stacks()
		bubble := bubbleOf(stacks[0]) // the first is the caller's
		found = nil
		for _, stack := range stacks {
			if library(stack) && bubbleOf(stack) == bubble {
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

// stacks returns the stacks of all goroutines.
func stacks() []string {
	for buf := make([]byte, 1<<13); ; buf = make([]byte, 2*len(buf)) {
		if n := runtime.Stack(buf, true); n < len(buf) {
			return strings.Split(string(buf[:n]), "\n\n")
		}
	}
}

// library reports whether a goroutine is in code of the library. The path of this
// package of tests begins as that of the library does.
func library(stack string) bool {
	const path = "github.com/stint-go/stint"
	return strings.Contains(stack, path+".") || strings.Contains(stack, path+"/stream.") || strings.Contains(stack, path+"/internal/")
}

// bubbleOf returns what the first line of a stack says of the goroutine's bubble.
func bubbleOf(stack string) string {
	header, _, _ := strings.Cut(stack, "\n")
	_, bubble, _ := strings.Cut(header, "synctest bubble ")
	return bubble
}

// noneLeft fails the test if the library has a goroutine.
func noneLeft(t *testing.T) {
	t.Helper()
	synctest.Wait()
	if left := ours(); len(left) > 0 {
		t.Errorf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
	}
}

// bubble runs a test in a bubble. No goroutine of the library may be left at its
// end.
func bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			test(t)
			noneLeft(t)
		})
	})
}
