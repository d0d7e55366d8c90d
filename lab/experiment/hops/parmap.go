package hops

import (
	"fmt"
	"slices"
	"time"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/load"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// empty measures the cost of ParMap for a record without work.
func (z sizes) empty() []experiment.Study {
	f := keys(z.n(records))
	c := experiment.Case{Name: "parmap=empty", Doc: "an op is a record without work", Reference: sequential.Name, Ops: f.ops(20), Count: samples}
	c.Models = identity.models(f, f.want, z.procs, slices.Concat([]mapper{sequential}, streams)...)
	beside := c
	beside.Name, beside.Reference, beside.Ops = c.Name+"/beside=peers", nameParMap, f.ops(1)
	beside.Models = identity.models(f, f.want, z.procs, slices.Concat([]mapper{sequential, static}, streams, libraries)...)
	st := experiment.One(c)
	for _, name := range parMaps {
		st.Claims = append(st.Claims, value(c.Name, name, 8))
	}
	return []experiment.Study{st, experiment.One(beside)}
}

// idealWithin allows 5 % above the ideal.
const idealWithin = 1.05

// computing measures records that compute.
func (z sizes) computing() []experiment.Study {
	var out []experiment.Study
	for _, d := range []time.Duration{100 * time.Nanosecond, time.Microsecond, 10 * time.Microsecond} {
		f, steps := keys(z.n(int(40*time.Millisecond/d))), load.Steps(d)
		b := bodyOf(func(key uint64) uint64 { return key + load.Spin(steps) })
		c := experiment.Case{Name: fmt.Sprintf("parmap=computing/compute=%v", d), Doc: "an op is a record", Reference: static.Name, Ops: len(f.in), Count: samples}
		c.Models = b.models(f, f.want+uint64(len(f.in))*load.Spin(steps), z.procs, slices.Concat([]mapper{sequential, static}, streams, libraries)...)
		st := experiment.One(c)
		for _, name := range parMaps {
			if d < time.Microsecond {
				break // the cost of the record itself shows
			}
			st.Claims = append(st.Claims, experiment.AtMost(idealWithin, c.Name, name, static.Name, ""), result.Claim{
				Case: c.Name, Model: name, Unit: measure.Time, Form: result.Ratio, Than: sequential.Name, Bar: idealWithin / float64(z.procs), Note: "the ideal is an equal share",
			})
		}
		out = append(out, st)
	}
	return out
}

// sleepTime is how long a record waits.
const sleepTime = time.Millisecond

// waiting measures records that wait: only the number of concurrent waits
// matters.
func (z sizes) waiting() []experiment.Study {
	var out []experiment.Study
	for _, n := range slices.Compact([]int{z.n(100), z.n(1000), z.n(10_000)}) {
		out = append(out, z.sleepers(n, min(n, 100)))
	}
	return append(out, z.stragglers())
}

// sleepers measures n records that sleep, limit at a time. The ideal is n/limit
// sleeps in a row, since a sleep takes longer than requested.
func (z sizes) sleepers(n, limit int) experiment.Study {
	f, g := keys(n), new(engine.Gauge)
	c := experiment.Case{Name: fmt.Sprintf("parmap=waiting/sleep=%v/n=%d/limit=%d", sleepTime, n, limit), Doc: "an op is a record", Reference: "rounds", Ops: f.ops(max(1, z.n(1000)/n)), Count: samples}
	ways := slices.Concat([]mapper{counterWorkers}, streams, libraries)
	c.Models = append(c.Models, experiment.Model{Model: result.Floor.Model("rounds", "n/limit sleeps one after the other"), Run: func(m *measure.Meter) error {
		m.Start()
		for range m.N / limit {
			time.Sleep(sleepTime)
		}
		m.Stop()
		return nil
	}})
	for _, m := range sleeping(g).models(f, f.want, limit, ways...) {
		c.Models = append(c.Models, gauged(m, g))
	}
	st := experiment.One(c)
	for _, name := range parMaps {
		st.Claims = append(st.Claims, experiment.AtMost(1.15, c.Name, name, "rounds", ""))
	}
	return st
}

// sleeping returns a body that sleeps and is counted meanwhile.
func sleeping(g *engine.Gauge) body {
	return bodyOf(func(key uint64) uint64 {
		g.Enter()
		time.Sleep(sleepTime)
		g.Leave()
		return key
	})
}

// gauged also reports the number of concurrent records.
func gauged(m experiment.Model, g *engine.Gauge) experiment.Model {
	measured := m.Run
	m.Run = func(m *measure.Meter) error {
		g.Reset()
		err := measured(m)
		m.Report(measure.AtOnce, float64(g.Peak()))
		return err
	}
	return m
}

// stragglers measures records of which one in a hundred takes 50 times as long
// and delays its successors where order is kept.
func (z sizes) stragglers() experiment.Study {
	const limit, long = 16, 50
	f := keys(z.n(1000))
	slow := map[uint64]bool{}
	for i := 0; i < len(f.in); i += 100 {
		slow[f.in[i]] = true
	}
	b := bodyOf(func(key uint64) uint64 {
		d := sleepTime
		if slow[key] {
			d *= long
		}
		time.Sleep(d)
		return key
	})
	c := experiment.Case{Name: fmt.Sprintf("parmap=stragglers/limit=%d", limit), Doc: "an op is a record that sleeps for 1 ms, or, one in a hundred, for 50", Reference: counterWorkers.Name, Ops: len(f.in), Count: fewSamples}
	c.Models = b.models(f, f.want, limit, slices.Concat([]mapper{counterWorkers}, streams, libraries)...)
	return experiment.One(c)
}
