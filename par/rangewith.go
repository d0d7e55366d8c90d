package par

import (
	"fmt"
	"sync"
)

// RangeWith is Range with a state for each piece, such as a histogram or a buffer. f gets a
// state that no other call has at that time, and may change it without a lock. If all states
// are in use, RangeWith calls new for another state. So there are at most GOMAXPROCS states,
// however many pieces there are. RangeWith returns all states, in no particular order, for the
// caller to merge. It returns none if n is 0.
//
// Which pieces share a state differs from run to run. For floating-point sums that are the same
// in every run, use Reduce.
//
// RangeWith panics if n is negative or a function is nil, and with a *stint.PanicError if new
// or f panics. new may be called concurrently.
func RangeWith[S any](n int, new func() S, f func(s S, lo, hi int)) []S {
	check("RangeWith", "new", new == nil)
	check("RangeWith", "f", f == nil)
	if n < 0 {
		panic(fmt.Sprintf("par: RangeWith: n is %d, want 0 or more", n))
	}
	if n == 0 {
		return nil
	}
	s := &states[S]{new: new}
	alone(func() { s.put(s.take()) }) // before the first piece is measured
	pieces(n, func(lo, hi int) {
		own := s.take()
		f(own, lo, hi)
		s.put(own)
	})
	return s.all
}

// states are the states of one call of RangeWith. A piece takes one, and puts it back.
type states[S any] struct {
	new func() S

	mu        sync.Mutex
	all, free []S
}

// take returns a free state, or a new one.
func (s *states[S]) take() S {
	s.mu.Lock()
	if last := len(s.free) - 1; last >= 0 {
		defer s.mu.Unlock()
		own := s.free[last]
		s.free = s.free[:last]
		return own
	}
	s.mu.Unlock()
	own := s.new() // without the lock: it is the caller's function
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, own)
	return own
}

// put makes a state free.
func (s *states[S]) put(own S) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, own)
}
