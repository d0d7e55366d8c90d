package par

import (
	"runtime"
	"slices"

	"github.com/stint-go/stint/internal/task"
)

const (
	// stableAlone is how many elements one goroutine sorts sooner than several
	// that have to be woken first.
	stableAlone = 16 << 10
	// stableInPlace is how many elements are sorted by insertion, without a buffer.
	stableInPlace = 20
)

// SortStableFunc sorts s in ascending order as cmp says, and keeps the order of
// equal elements. cmp(a, b) is negative when a comes before b, positive when it
// comes after b, and 0 when they are equal; it must be a strict weak order, as for
// [slices.SortStableFunc], of which the result is the same, and is called by up to
// GOMAXPROCS goroutines at the same time. With GOMAXPROCS 1 and for short slices
// it is called by the caller's goroutine alone.
//
// It is a merge sort and has a buffer of len(s) elements, which
// slices.SortStableFunc has not. A slice that is sorted, or is in strictly
// descending order, is left or reversed in place after len(s)-1 calls of cmp; so
// is one of up to 20 elements sorted without a buffer. Runs that are in order are
// found and kept, and cmp is called len(s)*log2(len(s)) times and a multiple of
// len(s) at most.
//
// It returns when every call of cmp has returned and no goroutine of it is left. A
// panic of cmp is raised again in the caller as a *PanicError; a call of
// runtime.Goexit ends the caller's goroutine. In both cases s has all of its
// elements by then, in some order. So it has after calls of a cmp that contradict
// each other. It panics if cmp is nil.
//
// The caller must not use s meanwhile, and cmp must not change it. The buffer is
// garbage after the call.
func SortStableFunc[S ~[]E, E any](s S, cmp func(a, b E) int) {
	check("SortStableFunc", "cmp", cmp == nil)
	if len(s) < 2 {
		return
	}
	returned := false
	defer func() {
		if !returned {
			unreturned(recover())
		}
	}()
	sortStable(s, cmp)
	returned = true
}

// unreturned does to the caller what v, which recover gave, says of a function
// that did not return: the same as a team does.
func unreturned(v any) {
	var f failure
	f.add(task.Unreturned(v))
	f.raise()
}

func sortStable[E any](s []E, cmp func(a, b E) int) {
	n := len(s)
	sorted := leadingRun(s, cmp)
	switch {
	case sorted == n:
		return
	case n <= stableInPlace:
		insertInPlace(s, sorted, cmp)
		return
	}
	m := merger[E]{s: s, buf: make([]E, n), cmp: cmp}
	if procs := runtime.GOMAXPROCS(0); n >= stableAlone && procs > 1 {
		ms := &mergers[E]{merger: m, team: newTeam(), grain: max(n/(8*procs), mergePiece)}
		ms.team.run(func() {
			if ms.sort(0, n, sorted, n-1, false) {
				ms.move(0, n, false)
			}
		})
	} else if m.sort(0, n, sorted, n-1, false) {
		m.move(0, n, false)
	}
}

// leadingRun returns how many elements at the beginning of s are in order. If they
// were in strictly descending order, it has reversed them.
func leadingRun[E any](s []E, cmp func(a, b E) int) int {
	i, down := 2, cmp(s[1], s[0]) < 0
	for i < len(s) && cmp(s[i], s[i-1]) < 0 == down {
		i++
	}
	if down {
		slices.Reverse(s[:i])
	}
	return i
}

// insertInPlace sorts s, of which the first elements are sorted. Between two
// calls of cmp no element is out of s.
func insertInPlace[E any](s []E, sorted int, cmp func(a, b E) int) {
	for i := sorted; i < len(s); i++ {
		for j := i; j > 0 && cmp(s[j], s[j-1]) < 0; j-- {
			s[j], s[j-1] = s[j-1], s[j]
		}
	}
}
