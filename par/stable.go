package par

import "slices"

// SortStableFunc sorts s, on one goroutine yet.
func SortStableFunc[S ~[]E, E any](s S, cmp func(a, b E) int) { slices.SortStableFunc(s, cmp) }
