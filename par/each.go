package par

// Each calls f concurrently with the address of every element, and returns when all calls
// have returned. f may change the element.
//
// Each panics if f is nil, and with a *stint.PanicError if f panics.
func Each[T any](s []T, f func(*T)) {
	check("Each", "f", f == nil)
	newLoop(len(s), func(lo, hi int) { visit(s[lo:hi], f) }).run()
}

// visit calls f for each element of s, in fours: the counter of a loop is stored in memory
// during each call, which takes longer than a call of a few instructions.
func visit[T any](s []T, f func(*T)) {
	for ; len(s) >= 4; s = s[4:] {
		f(&s[0])
		f(&s[1])
		f(&s[2])
		f(&s[3])
	}
	for i := range s {
		f(&s[i])
	}
}
