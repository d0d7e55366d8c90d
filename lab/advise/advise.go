// Package advise measures whether a function of your own is faster
// concurrently. It compares a plain loop with stint.Range under limits of 1, 2,
// 4 and so on, with stint.Range without a limit, and, if the function computes,
// with par.Range. It reports whether the function computes or waits, the
// speedups, whether concurrency pays, and the code to write.
//
//	func TestFetchConcurrently(t *testing.T) {
//		advice, err := advise.Run(t.Context(), len(urls), func(i int) { fetch(urls[i]) })
//		if err != nil {
//			t.Fatal(err)
//		}
//		t.Log(advice)
//	}
//
// The command "go run ./lab advise" does the same for a command line.
package advise

import (
	"context"
	"fmt"
)

// Run measures f on the indexes from 0 to n-1. It calls f many times and
// concurrently, also with the same index. If runs of all items take too long
// for the Budget, it measures the first items only, two at least. CPU time is
// that of the process, so nothing else should run in it. Run uses real time and
// does not work in a testing/synctest bubble.
//
// When ctx ends, Run starts no more calls of f, except for some milliseconds if
// they are short, and returns the cause of ctx with the advice so far, which is
// never nil.
//
// A panic of f in the loop propagates; in other models it is a
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
