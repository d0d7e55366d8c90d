package stream

// A yieldState is the state of a function that passes records of the caller's code to
// the stages behind it, as the compiler has one for the body of a range loop:
//
//	yieldReady    the next record may come
//	yieldRunning  the stages behind run, or have panicked
//	yieldDone     the caller's code does not run, or no more records are wanted
//
// After a panic or a Goexit of the caller's code the state stays, and its lifetime has ended.
type yieldState uint8

const (
	yieldReady yieldState = iota
	yieldRunning
	yieldDone
)

// newYield returns a function that passes records to a sink, and its state, which becomes
// yieldReady when the caller's code is called.
func newYield[T any](in *lifetime, to sink[T]) (yield func(T) bool, state *yieldState) {
	state = new(yieldState)
	*state = yieldDone
	return func(v T) bool {
		if *state == yieldRunning {
			return false
		}
		if *state == yieldReady && !in.ended() {
			*state = yieldRunning
			if to.one(v) {
				*state = yieldReady
				return true
			}
		}
		*state = yieldDone
		return false
	}, state
}

// end is called when the caller's code has returned: its function, which may be kept, passes
// on nothing any more. end reports whether more records are wanted. It panics, as a range
// loop does, if the caller's code has recovered a panic of the stages behind it: the stream
// must not continue as if there had been no panic.
func (s *yieldState) end(function string) (wanted bool) {
	if *s == yieldRunning {
		panic("stream: " + function + " recovered a panic of what takes its records, and did not panic itself")
	}
	wanted = *s == yieldReady
	*s = yieldDone
	return wanted
}
