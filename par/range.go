package par

// Range calls f for pieces of the indexes from 0 to n-1, on one goroutine yet.
func Range(n int, f func(lo, hi int)) {
	if n > 0 {
		f(0, n)
	}
}

// Each calls f for every element, on one goroutine yet.
func Each[T any](s []T, f func(*T)) {
	for i := range s {
		f(&s[i])
	}
}

// Map returns the results of f, on one goroutine yet.
func Map[T, R any](s []T, f func(T) R) []R {
	out := make([]R, len(s))
	for i := range s {
		out[i] = f(s[i])
	}
	return out
}

// Reduce folds, on one goroutine yet.
func Reduce[T, A any](s []T, zero func() A, fold func(A, T) A, merge func(A, A) A) A {
	a := zero()
	for _, v := range s {
		a = fold(a, v)
	}
	return a
}

// Find finds, on one goroutine yet.
func Find[T any](s []T, f func(T) bool) int {
	for i, v := range s {
		if f(v) {
			return i
		}
	}
	return -1
}
