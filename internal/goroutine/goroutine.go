// Package goroutine tells which goroutines there are, from their stack traces. It is for
// tests.
package goroutine

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// ID returns a number for the goroutine that calls it.
func ID() (n int) {
	var buf [64]byte
	fmt.Sscanf(string(buf[:runtime.Stack(buf[:], false)]), "goroutine %d ", &n)
	return n
}

// NoneLeft fails the test if Ours returns a goroutine.
func NoneLeft(t *testing.T) {
	t.Helper()
	if left := Ours(); len(left) > 0 {
		t.Errorf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
	}
}

// Ours returns the stacks of the goroutines that run code of the library or were started by
// it. In a bubble it returns those of the bubble only. Call synctest.Wait before it in a
// bubble: a goroutine needs a moment to exit after it has told its owner. Outside a bubble,
// Ours waits for goroutines that are exiting.
func Ours() []string {
	var found []string
	for range 1000 {
		all := stacks()
		bubble := bubbleOf(all[0]) // the first is the caller's
		found = nil
		for _, stack := range all {
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

// library reports whether a goroutine is in code of the library, not counting packages for
// tests.
func library(stack string) bool {
	const path = "github.com/stint-go/stint"
	for _, tests := range []string{"goroutine", "testkit", "workload", "conformance_test"} {
		stack = strings.ReplaceAll(stack, path+"/internal/"+tests+".", "")
	}
	for _, in := range []string{".", "/par.", "/stream.", "/errgroup.", "/internal/"} {
		if strings.Contains(stack, path+in) {
			return true
		}
	}
	return false
}

// bubbleOf returns what the first line of a stack says of the goroutine's bubble.
func bubbleOf(stack string) string {
	header, _, _ := strings.Cut(stack, "\n")
	_, bubble, _ := strings.Cut(header, "synctest bubble ")
	return bubble
}
