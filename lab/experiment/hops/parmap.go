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

// empty is what several at once cost a record that they do nothing with.
func (z sizes) empty() []experiment.Study {
	f := keys(z.n(records))
	c := experiment.Case{Name: "parmap=empty", Doc: "an op is a record that nothing is done with", Reference: sequential.Name, Ops: f.ops(20), Count: samples}
	c.Models = nothing.models(f, f.want, z.procs, slices.Concat([]crossing{sequential}, streams)...)
	beside := c
	beside.Name, beside.Reference, beside.Ops = c.Name+"/beside=peers", nameParMap, f.ops(1)
	beside.Models = nothing.models(f, f.want, z.procs, slices.Concat([]crossing{sequential, static}, streams, libraries)...)
	st := experiment.One(c)
	for _, name := range parMaps {
		st.Claims = append(st.Claims, value(c.Name, name, 8))
	}
	return []experiment.Study{st, experiment.One(beside)}
}

// within is what ours may take of the best there is: a twentieth more.
const within = 1.05

// computing is records that are worth a processor.
func (z sizes) computing() []experiment.Study {
	var out []experiment.Study
	for _, d := range []time.Duration{100 * time.Nanosecond, time.Microsecond, 10 * time.Microsecond} {
		f, steps := keys(z.n(int(40*time.Millisecond/d))), load.Steps(d)
		b := bodyOf(func(key uint64) uint64 { return key + load.Spin(steps) })
		c := experiment.Case{Name: fmt.Sprintf("parmap=computing/compute=%v", d), Doc: "an op is a record", Reference: static.Name, Ops: len(f.in), Count: samples}
		c.Models = b.models(f, f.want+uint64(len(f.in))*load.Spin(steps), z.procs, slices.Concat([]crossing{sequential, static}, streams, libraries)...)
		st := experiment.One(c)
		for _, name := range parMaps {
			if d < time.Microsecond {
				break // the record itself is seen
			}
			st.Claims = append(st.Claims, experiment.AtMost(within, c.Name, name, static.Name, ""), result.Claim{
				Case: c.Name, Model: name, Unit: measure.Time, Form: result.Ratio, Than: sequential.Name, Bar: within / float64(z.procs), Note: "the ideal is an equal share",
			})
		}
		out = append(out, st)
	}
	return out
}

// nap is how long a record that waits waits.
const nap = time.Millisecond

// waiting is records that need no processor: how many wait at once decides.
func (z sizes) waiting() []experiment.Study {
	var out []experiment.Study
	for _, n := range slices.Compact([]int{z.n(100), z.n(1000), z.n(10_000)}) {
		out = append(out, z.naps(n, min(n, 100)))
	}
	return append(out, z.stragglers())
}

// naps is n records that sleep, limit at once. The ideal is as many sleeps one
// after the other as that makes rounds: sleeping takes longer than it is told.
func (z sizes) naps(n, limit int) experiment.Study {
	f, g := keys(n), new(engine.Gauge)
	c := experiment.Case{Name: fmt.Sprintf("parmap=waiting/sleep=%v/n=%d/limit=%d", nap, n, limit), Doc: "an op is a record", Reference: "rounds", Ops: f.ops(max(1, z.n(1000)/n)), Count: samples}
	ways := slices.Concat([]crossing{next}, streams, libraries)
	c.Models = append(c.Models, experiment.Model{Model: floor("rounds", "n/limit sleeps one after the other"), Run: func(m *measure.Meter) error {
		m.Start()
		for range m.N / limit {
			time.Sleep(nap)
		}
		m.Stop()
		return nil
	}})
	for _, m := range asleep(g).models(f, f.want, limit, ways...) {
		c.Models = append(c.Models, gauged(m, g))
	}
	st := experiment.One(c)
	for _, name := range parMaps {
		st.Claims = append(st.Claims, experiment.AtMost(1.15, c.Name, name, "rounds", ""))
	}
	return st
}

// asleep is a body that sleeps and is counted meanwhile.
func asleep(g *engine.Gauge) body {
	return bodyOf(func(key uint64) uint64 {
		g.Enter()
		time.Sleep(nap)
		g.Leave()
		return key
	})
}

// gauged reports how many records were worked on at once.
func gauged(m experiment.Model, g *engine.Gauge) experiment.Model {
	measured := m.Run
	m.Run = func(m *measure.Meter) error {
		g.Reset()
		err := measured(m)
		m.Report(measure.AtOnce, float64(g.Most()))
		return err
	}
	return m
}

// stragglers is records of which one in a hundred takes 50 times as long: those
// behind it must wait where the order is kept.
func (z sizes) stragglers() experiment.Study {
	const limit, long = 16, 50
	f := keys(z.n(1000))
	slow := map[uint64]bool{}
	for i := 0; i < len(f.in); i += 100 {
		slow[f.in[i]] = true
	}
	b := bodyOf(func(key uint64) uint64 {
		d := nap
		if slow[key] {
			d *= long
		}
		time.Sleep(d)
		return key
	})
	c := experiment.Case{Name: fmt.Sprintf("parmap=stragglers/limit=%d", limit), Doc: "an op is a record that sleeps for 1 ms, or, one in a hundred, for 50", Reference: next.Name, Ops: len(f.in), Count: fewSamples}
	c.Models = b.models(f, f.want, limit, slices.Concat([]crossing{next}, streams, libraries)...)
	return experiment.One(c)
}
