package remote

import (
	"context"
	"fmt"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// holdsLittle is our conclusion about memory.
const holdsLittle = "What the submitter, the worker and the server hold does not grow with the number of tasks that have gone through."

// memory is runs of few tasks and of many, each with a process for the submitter, one
// for the worker and one for the server.
func (z sizes) memory(ctx context.Context) experiment.Study {
	var st experiment.Study
	name := func(n int) string { return fmt.Sprintf("task=empty/slots=%d/tasks=%d", manySlots, n) }
	for _, n := range []int{z.few, z.many} {
		st.Cases = append(st.Cases, experiment.Case{
			Name: name(n), Doc: "an op is a run of so many tasks; submitter, worker and server are a process each", Reference: seq,
			Ops: 1, Count: fewest, Main: true,
			Models: []experiment.Model{{Model: describe(seq), Run: func(m *measure.Meter) error { return apart(ctx, m, n) }}},
		})
	}
	for _, u := range []measure.Unit{measure.SubmitterPeak, measure.WorkerPeak, measure.ServerPeak} {
		st.Claims = append(st.Claims, result.Claim{
			Case: name(z.many), Model: seq, Unit: u, Form: result.Ratio, Than: seq, InCase: name(z.few), Bar: 1.25, Conclusion: holdsLittle,
		})
	}
	return st
}

// fewest samples give an interval. One of the runs takes long.
const fewest = 6

// apart takes a sample of a run whose members are processes.
func apart(ctx context.Context, m *measure.Meter, tasks int) error {
	c, err := newCrew(ctx)
	if err != nil {
		return err
	}
	_, err = c.add(member{Role: "worker", Slots: manySlots})
	if err == nil {
		var submitter *process
		if submitter, err = c.add(member{Role: "submitter", Tasks: tasks}); err == nil {
			<-submitter.ended // by itself
		}
	}
	samples, err := c.end(err)
	if err != nil {
		return err
	}
	worker, submitter, server := samples[0], samples[1], samples[2]
	m.Report(measure.Time, submitter[measure.Time])
	m.Report(measure.SubmitterPeak, submitter[measure.PeakMemory])
	m.Report(measure.WorkerPeak, worker[measure.PeakMemory])
	m.Report(measure.ServerPeak, server[measure.PeakMemory])
	return nil
}
