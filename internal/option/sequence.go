package option

import (
	"context"
	"sync"
)

// A Sequence is what a call knows of a sequence that gets the context of the call and can
// fail: the option that is made together with it.
//
//	free     no call pulls it
//	pulled   by a call, which has given it a context
//	begun    the sequence has taken the context: it is the one that belongs to the option
//	free     the call wants no more values
type Sequence struct {
	mu    sync.Mutex
	ctx   context.Context // while it is pulled
	begun bool
	err   error // the first one
}

// Pull gives the sequence the context of a call, and reports whether no other call pulls it.
func (s *Sequence) Pull(ctx context.Context) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx != nil {
		return false
	}
	s.ctx, s.begun, s.err = ctx, false, nil
	return true
}

// Release ends Pull.
func (s *Sequence) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx = nil
}

// Begin returns the context of the call that pulls the sequence, or nil if none does.
func (s *Sequence) Begin() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun = true
	return s.ctx
}

// Begun reports whether the sequence has begun.
func (s *Sequence) Begun() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun
}

// Fail records an error of the sequence.
func (s *Sequence) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// Err returns the first error of the sequence.
func (s *Sequence) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
