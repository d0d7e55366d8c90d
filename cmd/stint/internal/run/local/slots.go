package local

import (
	"context"
	"sync"
	"time"
)

// Slots number the jobs that run concurrently, from 1. The zero value is ready.
type Slots struct {
	mu   sync.Mutex
	used []bool
}

// Take returns the lowest free number.
func (s *Slots) Take() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, used := range s.used {
		if !used {
			s.used[i] = true
			return i + 1
		}
	}
	s.used = append(s.used, true)
	return len(s.used)
}

// Put makes a number free.
func (s *Slots) Put(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used[n-1] = false
}

// starts keeps a time between starts. The zero value is ready.
type starts struct {
	mu   sync.Mutex
	next time.Time
}

// wait waits until d has passed since the start before.
func (s *starts) wait(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	now := time.Now()
	at := s.next
	if at.Before(now) {
		at = now
	}
	s.next = at.Add(d)
	s.mu.Unlock()
	return sleep(ctx, at.Sub(now))
}

// late keeps the time after a start that was late.
func (s *starts) late(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if next := time.Now().Add(d); d > 0 && next.After(s.next) {
		s.next = next
	}
}
