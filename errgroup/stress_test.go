package errgroup_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/errgroup"
)

// Submitters, tasks that start tasks, tasks that fail in every way, and waiters, in
// random order: each accepted task runs once, the limit holds, and nobody is left.
func TestRandomInterleavings(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 17))
		limit := []int{-1, 1, 2, 3, 7, 64}[seed%6]
		s := &storm{limit: limit}
		s.group.SetLimit(limit)
		for range 1 + random.IntN(3) { // the group is used again
			if wrong := s.blow(random.Uint64(), 1+random.IntN(8), random.IntN(200)); wrong != "" {
				t.Fatalf("seed %d, limit %d: %s", seed, limit, wrong)
			}
		}
	}
}

// storm is a group under stress.
type storm struct {
	group   errgroup.Group
	limit   int
	running gauge
	started atomic.Int64 // accepted
	ran     atomic.Int64
	failed  atomic.Int64
}

// blow has submitters start tasks each, waits, and returns what is wrong then.
func (s *storm) blow(seed uint64, submitters, tasks int) string {
	var wg sync.WaitGroup
	for i := range submitters {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			for range tasks {
				s.submit(random.Uint64(), 2)
			}
		})
	}
	wg.Wait()
	return s.settle()
}

// submit starts a task by Go or TryGo. What it does follows from what.
func (s *storm) submit(what uint64, depth int) {
	task := func() error { return s.task(what, depth) }
	if what%5 == 0 || depth < 2 { // in a task Go might wait for the task itself
		if s.group.TryGo(task) {
			s.started.Add(1)
		}
		return
	}
	s.started.Add(1)
	s.group.Go(task)
}

var errStorm = errors.New("storm")

func (s *storm) task(what uint64, depth int) error {
	s.running.in()
	defer s.running.out()
	s.ran.Add(1)
	if what>>8%4 == 0 && depth > 0 {
		s.submit(what>>16, depth-1)
	}
	if what>>16%8 == 0 {
		runtime.Gosched()
	}
	switch what >> 24 % 32 {
	case 0:
		s.failed.Add(1)
		return errStorm
	case 1:
		s.failed.Add(1)
		panic(errStorm)
	case 2:
		s.failed.Add(1)
		runtime.Goexit()
	}
	return nil
}

// settle waits for the group and looks at the accounts.
func (s *storm) settle() string {
	p, err := waited(&s.group)
	failed := s.failed.Load() > 0
	switch {
	case s.started.Load() != s.ran.Load():
		return fmt.Sprintf("%d tasks were started, and %d ran", s.started.Load(), s.ran.Load())
	case s.running.now.Load() != 0:
		return "Wait returned while tasks ran"
	case s.limit > 0 && int(s.running.most.Load()) > s.limit:
		return fmt.Sprintf("%d tasks ran at once", s.running.most.Load())
	case failed != (p != nil || err != nil):
		return fmt.Sprintf("tasks failed: %v; Wait panicked with %v, returned %v", failed, p, err)
	case err != nil && err != errStorm && err != stint.ErrGoexit:
		return err.Error()
	}
	return ""
}

// A limit that is made while others are in Go is kept to from then on: a Go that has
// begun before it counts as a task, or waits.
func TestLimitMadeBesideGo(t *testing.T) {
	made := 0
	for range 20_000 {
		var g errgroup.Group
		var limited atomic.Bool
		var running, most atomic.Int32 // most: once the limit is made
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for range 2 {
					g.Go(func() error {
						n := running.Add(1)
						for range 3 {
							runtime.Gosched()
							if limited.Load() {
								most.Store(max(most.Load(), n, running.Load()))
							}
						}
						running.Add(-1)
						return nil
					})
				}
			})
		}
		for range made % 8 { // so that it comes at one moment or another
			runtime.Gosched()
		}
		if panicOf(func() { g.SetLimit(1) }) == nil {
			limited.Store(true)
			made++
		}
		wg.Wait()
		g.Wait()
		if n := most.Load(); n > 1 {
			t.Fatalf("%d tasks ran at once under a limit of 1", n)
		}
	}
	if made == 0 {
		t.Error("no limit was made")
	}
}
