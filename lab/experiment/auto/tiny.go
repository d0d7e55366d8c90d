package auto

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/load"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// A way runs one tiny task n times. Tasks are the same function each time.
type way struct {
	name string
	doc  string
	run  func(n int, f func(), opts ...stint.Option)
}

var ways = []way{
	{"Range", "Range", rangeTiny},
	{"Pool", "NewPool, Go, Close", poolTiny},
	{"Group", "NewGroup, Go, Wait", groupTiny},
}

// checked is how many tiny tasks are counted after each sample: they cannot be
// while they are timed.
const checked = 1000

// bar is how many ns a tiny task may take longer when nobody has chosen a limit.
const bar = 3

// little is our conclusion about them.
const little = "A tiny task takes at most 3 ns more when nobody has chosen a limit."

// A few ns of some hundred show in long samples only.
const (
	sampled = 40 * time.Millisecond // processor time
	handing = 20 * time.Nanosecond  // what it takes about to hand a task over
)

// tiny is tasks so small that looking at them would cost more than they do.
func (z sizes) tiny() []experiment.Study {
	var out []experiment.Study
	for _, d := range []time.Duration{10, 100, time.Microsecond} {
		steps := load.Steps(d)
		spin := func() { runtime.KeepAlive(load.Spin(steps)) }
		for _, w := range ways {
			c := experiment.Case{Name: fmt.Sprintf("compute=%v/through=%s", d, w.name), Doc: "an op is a task", Ops: cmp.Or(z.ops, z.n(int(sampled/(d+handing))))}
			limit := stint.Limit(z.p)
			c.Reference = "limit-procs-" + w.name
			c.Models = []experiment.Model{
				w.model(result.Model{Name: c.Reference, Kind: result.Peer, Doc: w.doc + ", with a Limit of GOMAXPROCS"}, spin, limit),
				w.model(result.Model{Name: "stint." + w.name, Kind: result.Ours, Doc: w.doc + ", without an option"}, spin),
			}
			claim := result.Claim{Case: c.Name, Model: "stint." + w.name, Unit: measure.Time, Form: result.Difference, Than: c.Reference, Bar: bar, Conclusion: little}
			out = append(out, experiment.One(c, claim))
		}
	}
	return out
}

// model times the task, and then counts some.
func (w way) model(m result.Model, f func(), opts ...stint.Option) experiment.Model {
	return experiment.Model{Model: m, Run: func(m *measure.Meter) error {
		m.Start()
		w.run(m.N, f, opts...)
		m.Stop()
		var ran atomic.Int64
		w.run(checked, func() { ran.Add(1) }, opts...)
		if n := ran.Load(); n != checked {
			return fmt.Errorf("%d tasks ran, want %d", n, checked)
		}
		return nil
	}}
}

func rangeTiny(n int, f func(), opts ...stint.Option) {
	err := stint.Range(context.Background(), n, func(context.Context, int) error { f(); return nil }, opts...)
	if err != nil {
		panic(err) // no task returns one
	}
}

func poolTiny(n int, f func(), opts ...stint.Option) {
	p := stint.NewPool(opts...)
	task := func(context.Context) { f() }
	for range n {
		if err := p.Go(task); err != nil {
			panic(err) // it is open
		}
	}
	p.Close()
}

func groupTiny(n int, f func(), opts ...stint.Option) {
	g := stint.NewGroup(context.Background(), opts...)
	task := func(context.Context) error { f(); return nil }
	for range n {
		g.Go(task)
	}
	if err := g.Wait(); err != nil {
		panic(err) // no task returns one
	}
}
