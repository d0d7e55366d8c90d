// Package advise answers for a function of your own whether calls of it should
// run side by side. It measures the plain loop beside stint.Range under limits of
// 1, 2, 4 and so on and without one, and beside par.Range where the function
// computes, all in turn, and says what it found: whether the function computes or
// waits, how many times as fast each of them is, whether it pays, and what to write.
//
//	func TestFetchSideBySide(t *testing.T) {
//		advice, err := advise.Run(t.Context(), len(urls), func(i int) { fetch(urls[i]) })
//		if err != nil {
//			t.Fatal(err)
//		}
//		t.Log(advice)
//	}
//
// The same for a command, from a shell:
//
//	go run ./lab advise -- gzip -kf /tmp/file{}
//
// No version is published yet: a module that imports it from a clone needs these lines
// in its go.mod, and then go mod tidy.
//
//	require github.com/stint-go/stint/lab v0.0.0
//	replace github.com/stint-go/stint => ../stint
//	replace github.com/stint-go/stint/lab => ../stint/lab
package advise

import (
	"context"
	"fmt"
)

// Run measures f on the indexes from 0 to n-1 and returns what to do about it.
//
// A run is the list once: f is called for each index, by several goroutines at once.
// There are many runs, so f must bear to be called again and again with each index,
// and, under the largest limit, for many of them at once. If all runs of the whole list
// take too long for the Budget, they take the first items of it only, two at least.
// A list that is short in time is repeated to be timed, but each call of Range or of
// the loop is one for n items, as in the program that is asked about.
//
// The processor time is that of the whole process, so nothing else should run in
// it. Time is real: Run is not for a testing/synctest bubble.
//
// When ctx ends, no more calls of f begin, except for some milliseconds where they
// are short, and Run returns the cause of ctx and the advice that follows from what was
// measured by then. The advice is never nil; the error is that cause or nil.
//
// A panic of f reaches the caller: from the loop as it is, from the others as a
// *stint.PanicError. Run panics if ctx or f is nil or n is negative.
func Run(ctx context.Context, n int, f func(i int), opts ...Option) (*Advice, error) {
	switch {
	case ctx == nil:
		panic("advise: Run: nil context")
	case f == nil:
		panic("advise: Run: nil function")
	case n < 0:
		panic(fmt.Sprintf("advise: Run: n = %d: want 0 or more", n))
	}
	s := newSession(n, f, collect(opts))
	err := s.measure(ctx)
	return s.conclude(err != nil), err
}
