package par

import (
	"cmp"
	"slices"
)

// Sort sorts s, on one goroutine yet.
func Sort[S ~[]E, E cmp.Ordered](s S) { slices.Sort(s) }

// SortFunc sorts s, on one goroutine yet.
func SortFunc[S ~[]E, E any](s S, cmp func(a, b E) int) { slices.SortFunc(s, cmp) }
