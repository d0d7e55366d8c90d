package tiny

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"golang.org/x/sync/semaphore"
)

const permits = 8

// A do calls f with a permit, on the caller's goroutine, and with a context.
type do = func(ctx context.Context, f body) error

type body = func(context.Context) error

// The limiters that claims are about.
const (
	nameWeighted = "do-Weighted"
	nameContext  = "do-Weighted-context"
	nameLimit    = "do-stint.Limit"
	nameAuto     = "do-stint.Auto"
)

// limiters have 8 permits.
var limiters = []struct {
	result.Model
	open func() do
}{
	{result.Peer.Model(nameWeighted, "x/sync v0.24.0, semaphore.Weighted: Acquire and Release"), func() do { return weighted(false) }},
	{result.Floor.Model(nameContext, "semaphore.Weighted, and context.WithValue for the function"), func() do { return weighted(true) }},
	{result.Peer.Model("do-channel", "a channel with 8 slots, in a select with ctx.Done"), func() do {
		slots := make(chan struct{}, permits)
		return func(ctx context.Context, f body) error {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			defer func() { <-slots }()
			return f(ctx)
		}
	}},
	{result.Ours.Model(nameLimit, "Limit(8): Do"), func() do { return stint.Limit(permits).Do }},
	{result.Ours.Model(nameAuto, "Auto(8, 8): Do"), func() do { return stint.Auto(permits, permits).Do }},
}

func weighted(withContext bool) do {
	s := semaphore.NewWeighted(permits)
	return func(ctx context.Context, f body) error {
		if err := s.Acquire(ctx, 1); err != nil {
			return err
		}
		defer s.Release(1)
		if withContext {
			ctx = context.WithValue(ctx, &s, s)
		}
		return f(ctx)
	}
}

// permits measures permits that are free, and permits that most callers wait for. Then it
// counts who runs at once.
func (z sizes) permits() (free, waiting experiment.Study) {
	kase := func(name, doc string, callers, ops int, f body) experiment.Study {
		c := experiment.Case{Name: fmt.Sprintf("permits=%d/callers=%d%s", permits, callers, name), Doc: doc, Reference: nameWeighted, Ops: ops}
		for _, l := range limiters {
			c.Models = append(c.Models, experiment.Model{Model: l.Model, Run: func(m *measure.Meter) error {
				do := l.open()
				m.Start()
				call(do, m.N, callers, f)
				m.Stop()
				return check(do, z.checked)
			}})
		}
		return experiment.One(c)
	}
	const callers = 64
	free = kase("", "an op is an empty function, with a permit that is free", 1, z.ops, nothing.Group)
	waiting = kase("/sleep=20us", "an op is a sleep of 20 µs, called by 64 goroutines", callers, cmp.Or(z.ops, 50*callers),
		func(context.Context) error { time.Sleep(20 * time.Microsecond); return nil })
	for _, m := range []string{nameLimit, nameAuto} {
		name := free.Cases[0].Name
		free.Claims = append(free.Claims, result.Claim{Case: name, Model: m, Unit: measure.Allocs, Form: result.Value, Bar: 1.05},
			experiment.AtMost(2, name, m, nameWeighted, ""), experiment.AtMost(1.5, name, m, nameContext, ""))
		waiting.Claims = append(waiting.Claims, experiment.AtMost(1, waiting.Cases[0].Name, m, nameWeighted, ""))
	}
	return free, waiting
}

// call makes n calls on some goroutines, none of which is canceled.
func call(do do, n, callers int, f body) {
	calls := func(n int) {
		for range n {
			do(context.Background(), f)
		}
	}
	var wg sync.WaitGroup
	for i := range callers - 1 {
		wg.Go(func() { calls(n*(i+1)/callers - n*i/callers) })
	}
	calls(n - n*(callers-1)/callers)
	wg.Wait()
}

// check makes n calls that count how many run at once.
func check(do do, n int) error {
	return engine.Counted(n, permits, func(task func()) { call(do, n, 2*permits, engine.TaskOf(task).Group) })
}
