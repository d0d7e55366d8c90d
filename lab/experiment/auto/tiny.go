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

// A tinyLoop runs one tiny task n times.
type tinyLoop struct {
	name string
	doc  string
	run  func(n int, f func(), opts ...stint.Option)
}

var tinyLoops = []tinyLoop{
	{"Range", "Range", rangeTiny},
	{"Pool", "NewPool, Go, Close", poolTiny},
	{"Group", "NewGroup, Go, Wait", groupTiny},
}

// checked is the number of tiny tasks counted after each sample. They cannot be
// counted while they are timed.
const checked = 1000

// maxExtra is how many ns a tiny task may take longer under the adaptive limit.
const maxExtra = 3

// tinyCost is our conclusion about tiny tasks.
const tinyCost = "A tiny task takes at most 3 ns more under the adaptive limit."

// Differences of a few ns show in long samples only.
const (
	sampleTime = 40 * time.Millisecond // CPU time
	submitCost = 20 * time.Nanosecond  // approximate cost of submitting a task
)

// tiny measures tasks so small that measuring each would cost more than the
// task.
func (z sizes) tiny() []experiment.Study {
	var out []experiment.Study
	for _, d := range []time.Duration{10, 100, time.Microsecond} {
		steps := load.Steps(d)
		spin := func() { runtime.KeepAlive(load.Spin(steps)) }
		for _, w := range tinyLoops {
			c := experiment.Case{Name: fmt.Sprintf("compute=%v/through=%s", d, w.name), Doc: "an op is a task", Ops: cmp.Or(z.ops, z.n(int(sampleTime/(d+submitCost))))}
			limit := stint.Limit(z.p)
			c.Reference = "limit-procs-" + w.name
			c.Models = []experiment.Model{
				w.model(result.Peer.Model(c.Reference, w.doc+", with a Limit of GOMAXPROCS"), spin, limit),
				w.model(result.Ours.Model("stint."+w.name, w.doc+", without an option"), spin),
			}
			claim := result.Claim{Case: c.Name, Model: "stint." + w.name, Unit: measure.Time, Form: result.Difference, Than: c.Reference, Bar: maxExtra, Conclusion: tinyCost}
			out = append(out, experiment.One(c, claim))
		}
	}
	return out
}

// model times the task, and then counts some tasks.
func (w tinyLoop) model(m result.Model, f func(), opts ...stint.Option) experiment.Model {
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
		panic(err) // no task returns an error
	}
}

func poolTiny(n int, f func(), opts ...stint.Option) {
	p := stint.NewPool(opts...)
	task := func(context.Context) { f() }
	for range n {
		if err := p.Go(task); err != nil {
			panic(err) // the pool is open
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
		panic(err) // no task returns an error
	}
}
