package par

// Find returns the lowest index of an element for which f returns true, or -1 if there is no
// such element, as slices.IndexFunc does. f is called concurrently, for all elements before the
// returned index and perhaps for elements after it.
//
// Find panics if f is nil. It panics with a *stint.PanicError if f panics, even for an element
// after the one that Find would have found.
func Find[T any](s []T, f func(T) bool) int {
	check("Find", "f", f == nil)
	l := newLoop(len(s), nil)
	l.body = func(lo, hi int) {
		if i := search(s[lo:hi], f); i >= 0 {
			l.cut(lo + i)
		}
	}
	l.run()
	if l.end < len(s) {
		return l.end
	}
	return -1
}

// search returns the lowest index of an element for which f returns true, or -1. It
// proceeds in fours, as visit does.
func search[T any](s []T, f func(T) bool) int {
	at := 0
	for ; len(s) >= 4; s, at = s[4:], at+4 {
		switch {
		case f(s[0]):
			return at
		case f(s[1]):
			return at + 1
		case f(s[2]):
			return at + 2
		case f(s[3]):
			return at + 3
		}
	}
	for i, v := range s {
		if f(v) {
			return at + i
		}
	}
	return -1
}
