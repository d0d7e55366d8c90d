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
	"github.com/stint-go/stint/internal/testkit"
)

// Submitters, nested and failing tasks, and waiters in random order: each accepted task runs
// once, the limit holds, and no goroutine is left.
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

// A storm is a group under stress.
type storm struct {
	group   errgroup.Group
	limit   int
	tasks   testkit.Gauge
	started atomic.Int64 // accepted
	failed  atomic.Int64
}

// blow starts submitters of tasks, waits, and returns what went wrong.
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

// submit starts a task with Go or TryGo; what determines which, and what the task does.
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
	s.tasks.Enter()
	defer s.tasks.Leave()
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

// settle waits for the group and checks the counts.
func (s *storm) settle() string {
	p, err := waited(&s.group)
	failed := s.failed.Load() > 0
	switch {
	case int(s.started.Load()) != s.tasks.Total():
		return fmt.Sprintf("%d tasks were started, and %d ran", s.started.Load(), s.tasks.Total())
	case s.tasks.Now() != 0:
		return "Wait returned while tasks ran"
	case s.limit > 0 && s.tasks.Max() > s.limit:
		return fmt.Sprintf("%d tasks ran at once", s.tasks.Max())
	case failed != (p != nil || err != nil):
		return fmt.Sprintf("tasks failed: %v; Wait panicked with %v, returned %v", failed, p, err)
	case err != nil && err != errStorm && err != stint.ErrGoexit:
		return err.Error()
	}
	return ""
}

// A limit made during calls of Go holds at once: such a call has counted its task before, or
// waits.
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
		for range made % 8 { // to vary the moment
			runtime.Gosched()
		}
		if testkit.Recovered(func() { g.SetLimit(1) }) == nil {
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
