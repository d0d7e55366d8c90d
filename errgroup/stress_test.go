package errgroup_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stint-go/stint/errgroup"
	"github.com/stint-go/stint/internal/testkit"
)

// Submitters, nested and failing tasks, and waiters in random order: each accepted task runs
// once, the limit holds, and no goroutine is left.
func TestRandomInterleavings(t *testing.T) {
	for seed := range uint64(30) {
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
	failed  atomic.Bool
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
	p, err := waited(&s.group)
	switch {
	case int(s.started.Load()) != s.tasks.Total():
		return fmt.Sprintf("%d tasks were started, and %d ran", s.started.Load(), s.tasks.Total())
	case s.tasks.Now() != 0:
		return "Wait returned while tasks ran"
	case s.limit > 0 && s.tasks.Max() > s.limit:
		return fmt.Sprintf("%d tasks ran at once", s.tasks.Max())
	case s.failed.Load() != (p != nil || err != nil):
		return fmt.Sprintf("tasks failed: %v; Wait panicked with %v, returned %v", s.failed.Load(), p, err)
	}
	return ""
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

func (s *storm) task(what uint64, depth int) error {
	s.tasks.Enter()
	defer s.tasks.Leave()
	if what>>8%4 == 0 && depth > 0 {
		s.submit(what>>16, depth-1)
	}
	how := what >> 24 % 32
	if how < 3 {
		s.failed.Store(true)
	}
	switch how {
	case 0:
		return errOne
	case 1:
		panic(errOne)
	case 2:
		runtime.Goexit()
	case 3, 4, 5, 6:
		runtime.Gosched()
	}
	return nil
}
