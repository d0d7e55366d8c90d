package par

import "fmt"

// Range calls f concurrently for pieces of the indexes from 0 to n-1, and returns when all
// calls have returned. A piece is the indexes from lo to hi-1. Each index is in exactly one
// piece, and no piece is empty. A piece takes some microseconds, and less at the beginning and
// the end of the loop, so there may be thousands of pieces. On one CPU there is one piece. A
// piece is not divided further while f runs: use Each if some indexes cost far more than the
// indexes before them.
//
// Range panics if n is negative or f is nil, and with a *stint.PanicError if f panics.
func Range(n int, f func(lo, hi int)) {
	check("Range", "f", f == nil)
	if n < 0 {
		panic(fmt.Sprintf("par: Range: n is %d, want 0 or more", n))
	}
	pieces(n, f)
}

// pieces calls f for pieces of the indexes from 0 to n-1, which are not divided.
func pieces(n int, f func(lo, hi int)) {
	l := newLoop(n, f)
	l.whole = true
	l.run()
}
