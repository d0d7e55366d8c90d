package engine

import (
	"sync"

	"github.com/stint-go/stint/lab/result"
)

// Semaphore is a goroutine per task behind a channel with limit slots.
func Semaphore() Open {
	return Open{Model: result.Peer.Model("semaphore", "go f() behind a channel with limit slots"),
		New: func(limit int, t Task) Engine {
			s := &semaphore{slots: make(chan struct{}, limit)}
			s.f = func() {
				defer s.wg.Done()
				defer func() { <-s.slots }()
				t.Plain()
			}
			return s
		}}
}

type semaphore struct {
	noClose
	wg    sync.WaitGroup
	slots chan struct{}
	f     func()
}

func (s *semaphore) Go(n int) {
	for range n {
		s.slots <- struct{}{}
		s.wg.Add(1)
		go s.f()
	}
}

func (s *semaphore) Wait() { s.wg.Wait() }
