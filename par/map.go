package par

// Map calls f concurrently for every element, and returns the results in the order of s.
// The result is not nil.
//
// Map panics if f is nil, and with a *stint.PanicError if f panics.
func Map[T, R any](s []T, f func(T) R) []R {
	check("Map", "f", f == nil)
	out := make([]R, len(s))
	newLoop(len(s), func(lo, hi int) { convert(out[lo:hi], s[lo:hi], f) }).run()
	return out
}

// convert sets out[i] to f(s[i]) for every i, in fours, as visit does.
func convert[T, R any](out []R, s []T, f func(T) R) {
	for ; len(s) >= 4 && len(out) >= 4; out, s = out[4:], s[4:] {
		out[0] = f(s[0])
		out[1] = f(s[1])
		out[2] = f(s[2])
		out[3] = f(s[3])
	}
	for i := range s {
		out[i] = f(s[i])
	}
}
