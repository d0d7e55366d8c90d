// Package sleepers measures a million tasks that wait: the cost of many
// goroutines in time and memory.
package sleepers

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment sleepers.
var Experiment = experiment.New("sleepers", full().String(), full(), workload{8000, 4000, 3 * time.Millisecond, 3}, run)

// A workload is a number of tasks that sleep, with a limit.
type workload struct {
	tasks, limit int
	pause        time.Duration
	reuses       int // runs of a kept engine in a sample
}

// full is the survey's workload. Ten runs take about its ten seconds.
func full() workload { return workload{1_000_000, 50_000, 10 * time.Millisecond, 10} }

func (w workload) String() string {
	return fmt.Sprintf("%d tasks that sleep for %v, at most %d at once", w.tasks, w.pause, w.limit)
}

// samples are fewer than usual: one takes a second, of the kept engines ten.
const samples, longSamples = 7, 6

func run(ctx context.Context, s *experiment.Session, w workload) (*result.Result, error) {
	b := s.NewBench("sleepers", w.String(),
		"Memory and goroutines are those of the whole process, read every 2 ms. Garbage of earlier samples is collected and returned to the system before.",
		"Finished goroutines leave some memory in the runtime, which is in the peak of every row.",
		"The time includes creating and closing the engine, except for closing engines that a program keeps.",
		"In cases with until=submitted, an op ends when the last task was submitted. Goroutines have no limit, and so never wait.")
	return b.Run(ctx, b.OnBoth(w.everybody(), everybodyClaims), w.contenders(b), w.long(), w.submitting())
}

// name is the common part of the names of cases.
func (w workload) name() string { return fmt.Sprintf("tasks=%d/limit=%d", w.tasks, w.limit) }

// article returns a case of the survey.
func (w workload) article(prefix, doc, table string) experiment.Case {
	return experiment.Case{
		Name: prefix + w.name(), Doc: doc, Reference: "goroutines", Ops: 1, Count: samples, Peaks: true, Article: result.Survey, Table: table,
	}
}

// contenders compares the survey's four alone, on one CPU, two and all.
func (w workload) contenders(b *experiment.Bench) experiment.Study {
	c := w.article("contenders=4/", "an op is all tasks", "a million tasks by four; errgroup also with a sync.WaitGroup, beside a group that is kept")
	c.Main = true
	c.Figures = []result.Figure{
		{Model: "goroutines", Text: "0.5 s on 8 cores, 1.3 s on one core, 2.1 s on two; 96 MB"},
		{Model: "errgroup", Text: "0.8 to 0.9 s on 8 cores, 1.4 s on one core, 2.2 s on two; 104 MB"},
		{Model: "conc", Text: "1.1 s on 8 cores, 1.3 s on one core, 2.5 s on two; 6 MB"},
		{Model: "ants", Text: "0.8 to 0.9 s on 8 cores, 1.5 s on one core, 2.0 s on two; 17 MB"},
		{Model: "errgroup-waitgroup", Text: "used too; no figures of its own"},
	}
	counted := engine.Reused(engine.Errgroup())
	counted.Name, counted.Doc = "errgroup-waitgroup", "x/sync v0.24.0, errgroup.SetLimit, and a sync.WaitGroup in place of its Wait"
	c.Models = w.models(false, engine.Goroutines(), engine.Errgroup(), counted, engine.Conc(), engine.Ants())
	st := b.OnBoth(c, func(on experiment.Names) []result.Claim { return on.Each(contendersClaims) })
	switch b.Result.Processors {
	case 1:
		return st
	case 2: // it has the case
	default:
		st.Claims = append(st.Claims, experiment.Concludes(result.Survey, plainWins, experiment.AtMost(1, c.Name, "goroutines", result.BestPeer, ""))...)
		c.Name, c.Processors = c.Name+"/procs=2", 2
		st.Cases, st.Claims = append(st.Cases, c), append(st.Claims, contendersClaims(c.Name)...)
	}
	st.Claims = append(st.Claims, experiment.Concludes(result.Survey, plainOne, experiment.AtMost(1.05, st.Cases[0].Name, "goroutines", result.BestPeer, ""))...)
	st.Claims = append(st.Claims, experiment.Concludes(result.Survey, dualCore, experiment.AtMost(1, c.Name, "ants", result.BestPeer, ""),
		experiment.AtMost(1, c.Name, "goroutines", "errgroup", ""), experiment.AtMost(1, c.Name, "errgroup", "conc", ""))...)
	return st
}

// long compares engines that are created once and run all tasks many times, as a server
// uses a pool.
func (w workload) long() experiment.Study {
	c := w.article(fmt.Sprintf("reused=%d/", w.reuses), "an op is all tasks, by the engine of the op before",
		"long runs, of 10 s (the survey has some of 50 s too), in which pools are reused")
	c.Main, c.Ops, c.Count = true, w.reuses, longSamples
	c.Models = w.models(false, engine.Goroutines(), engine.Reused(engine.Errgroup()), engine.Reused(engine.Conc()), engine.Ants(), engine.Reused(engine.Pool()))
	return experiment.One(c, slices.Concat(
		experiment.Concludes(result.Survey, concLeast, allocates(1, c.Name, "conc-reused", result.BestPeer), allocates(0.1, c.Name, "conc-reused", "goroutines")),
		experiment.Concludes("", reuses, experiment.AtMost(1, c.Name, "stint.Pool-reused", result.BestPeer, "")))...)
}

// submitting compares how fast engines accept tasks. The survey gives no figures of it.
func (w workload) submitting() experiment.Study {
	c := w.article("until=submitted/", "an op is the submission of all tasks, which need not have run",
		"throughput of submitting only, which is commented out there")
	c.Models = w.models(true, engine.Goroutines(), engine.Errgroup(), engine.Conc(), engine.Ants(), engine.Pool(), engine.Group())
	claim := func(model string) result.Claim {
		return experiment.AtMost(1, c.Name, model, result.BestBounded, submits)
	}
	return experiment.One(c, claim("stint.Pool"), claim("stint.Group"))
}

// everybody compares all engines.
func (w workload) everybody() experiment.Case {
	c := experiment.Case{Name: w.name(), Doc: "an op is all tasks", Reference: "goroutines", Ops: 1, Count: samples, Peaks: true, Main: true}
	floor := engine.Counter(1)
	floor.Name, floor.Kind = "floor", result.Floor
	floor.Doc += ": knows that the number of tasks is fixed and that they are alike"
	c.Models = w.models(false, engine.Opens()...)
	for _, l := range []engine.Loop{floor, engine.Range()} {
		c.Models = append(c.Models, experiment.Model{Model: l.Model, Run: w.counted(func(pause func(), m *measure.Meter) {
			m.Start()
			l.Run(w.tasks, w.limit, engine.BodyOf(func(int) { pause() }))
			m.Stop()
		})})
	}
	return c
}

// models run the tasks on engines, until all have run or until the last was submitted.
func (w workload) models(untilSubmitted bool, opens ...engine.Open) []experiment.Model {
	var out []experiment.Model
	for _, o := range opens {
		out = append(out, experiment.Model{Model: o.Model, Run: w.counted(func(pause func(), m *measure.Meter) {
			m.Start()
			x := o.New(w.limit, engine.TaskOf(pause))
			for range m.N {
				x.Go(w.tasks)
				if untilSubmitted {
					m.Stop()
				}
				x.Wait()
			}
			if !untilSubmitted {
				m.Stop()
			}
			x.Close()
		})})
	}
	return out
}

// counted checks that all tasks ran that run submits. A warm-up is one op.
func (w workload) counted(run func(pause func(), m *measure.Meter)) func(m *measure.Meter) error {
	return func(m *measure.Meter) error {
		if m.Round < 0 {
			m.N = 1
		}
		var woken atomic.Int64
		run(func() {
			time.Sleep(w.pause)
			woken.Add(1)
		}, m)
		if n, want := woken.Load(), int64(m.N*w.tasks); n != want {
			return fmt.Errorf("%d of %d tasks ran", n, want)
		}
		return nil
	}
}

// The conclusions of the survey.
const (
	plainWins = "On many cores, plain goroutines are the fastest for very many tasks that sleep, before errgroup, ants and conc."
	plainOne  = "On one core, no library is faster than plain goroutines for very many tasks that sleep."
	concLeast = "conc allocates least for very many tasks that sleep, about a tenth of plain goroutines."
	dualCore  = "On two cores, ants is the fastest for very many tasks that sleep, before goroutines, errgroup and conc."
)

// Our conclusions.
const (
	plainWinsAll = "Plain goroutines are the fastest for very many tasks that sleep, among all peers."
	concLeastAll = "conc allocates least for very many tasks that sleep, among all peers."
	reuses       = "A stint.Pool that is kept runs very many tasks that sleep faster than plain goroutines and than kept pools of errgroup, conc and ants."
	submits      = "stint.Pool and stint.Group accept very many tasks that sleep as fast as the fastest of errgroup, conc and ants."
)

// allocates claims that a model allocates at most bar times the bytes of another.
func allocates(bar float64, kase, model, than string) result.Claim {
	return result.Claim{Case: kase, Model: model, Unit: measure.Bytes, Form: result.Ratio, Than: than, Bar: bar}
}

// contendersClaims are about a case with the survey's four alone.
func contendersClaims(kase string) []result.Claim {
	return experiment.Concludes(result.Survey, concLeast, allocates(1, kase, "conc", result.BestPeer), allocates(0.1, kase, "conc", "goroutines"))
}

// everybodyClaims are about the case with all engines.
func everybodyClaims(on experiment.Names) []result.Claim {
	return on.Each(func(kase string) []result.Claim {
		out := []result.Claim{
			experiment.AtMost(1, kase, "goroutines", result.BestPeer, plainWinsAll),
			{Case: kase, Model: "conc", Unit: measure.Bytes, Form: result.Ratio, Than: result.BestPeer, Bar: 1, Conclusion: concLeastAll},
			experiment.AtMost(1.25, kase, "stint.Range", "floor", ""),
		}
		for _, m := range []string{"stint.Pool", "stint.Group"} {
			out = append(out, experiment.AtMost(0.6, kase, m, "goroutines", ""))
		}
		for _, m := range []string{"stint.Pool", "stint.Group", "stint.Range"} {
			both := m + " takes less time than plain goroutines and also allocates less than conc."
			out = append(out, experiment.Concludes("", both, experiment.AtMost(1, kase, m, "goroutines", ""), allocates(1, kase, m, "conc"))...)
			out = append(out, result.Claim{Case: kase, Model: m, Unit: measure.PeakMemory, Form: result.Ratio, Than: "goroutines", Bar: 0.75})
		}
		return out
	})
}
