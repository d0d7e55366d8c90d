package par

// maxBlocks is the largest number of blocks that Reduce makes of a slice.
const maxBlocks = 1024

// Reduce combines all elements into one result. It cuts s into blocks of len(s)/1024 elements,
// rounded up. In each block, fold combines the elements from left to right, starting from a new
// zero(). Then merge combines neighbouring results in pairs, until one result is left. The
// result of an empty slice is zero(). Calls of the functions run concurrently.
//
// How s is cut and merged depends on len(s) alone. So a sum of floating-point numbers is the
// same to the last bit in every run and for every GOMAXPROCS. It may differ from the sum of a
// loop from left to right. fold and merge may change their first argument and return it.
//
// A call of fold costs a nanosecond or two. For cheaper elements, as in a sum, give Reduce
// pieces of the slice: slices.Collect(slices.Chunk(s, 1<<16)), and a fold that loops over a
// piece.
//
// A plain loop is faster for fewer than some ten thousand cheap elements, and for results that
// grow with their elements, as maps do: up to 1,024 results are merged. Reduce panics if a
// function is nil, and with a *stint.PanicError if a function panics.
func Reduce[T, A any](s []T, zero func() A, fold func(A, T) A, merge func(A, A) A) A {
	check("Reduce", "zero", zero == nil)
	check("Reduce", "fold", fold == nil)
	check("Reduce", "merge", merge == nil)
	parts := make([]A, countBlocks(len(s)))
	indexes(len(parts), func(b int) {
		a := zero()
		lo, hi := block(b, len(s))
		for _, v := range s[lo:hi] {
			a = fold(a, v)
		}
		parts[b] = a
	})
	for step := 1; step < len(parts); step *= 2 { // from one of a pair to the other
		indexes((len(parts)-1+step)/(2*step), func(i int) {
			first, second := &parts[2*step*i], &parts[2*step*i+step]
			*first = merge(*first, *second)
		})
	}
	return parts[0]
}

// countBlocks returns how many blocks n elements have: one even for n = 0.
func countBlocks(n int) int { return max(0, n-1)/blockSize(n) + 1 }

// blockSize returns the size of the blocks of n elements; the last block may be shorter.
func blockSize(n int) int { return max(0, n-1)/maxBlocks + 1 }

// block returns the indexes of block b of n elements, from lo to hi-1. The end of a full
// last block may not fit into an int.
func block(b, n int) (lo, hi int) {
	size := blockSize(n)
	lo = b * size
	return lo, lo + min(size, n-lo)
}

// indexes calls f concurrently for each index from 0 to n-1.
func indexes(n int, f func(i int)) {
	newLoop(n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i)
		}
	}).run()
}
