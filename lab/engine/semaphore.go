package engine

import (
	"sync"

	"github.com/stint-go/stint/lab/result"
)

// Semaphore is a goroutine for every task, behind a channel with as many places
// as may run.
func Semaphore() Open {
	return Open{Name: "semaphore", Doc: "go f() behind a channel with limit places", Kind: result.Peer,
		New: func(limit int, t Task) Engine {
			s := &semaphore{places: make(chan struct{}, limit)}
			s.f = func() {
				defer s.wg.Done()
				defer func() { <-s.places }()
				t.Plain()
			}
			return s
		}}
}

type semaphore struct {
	keeper
	wg     sync.WaitGroup
	places chan struct{}
	f      func()
}

func (s *semaphore) Go(n int) {
	for range n {
		s.places <- struct{}{}
		s.wg.Add(1)
		go s.f()
	}
}

func (s *semaphore) Wait() { s.wg.Wait() }
