package cluster

import (
	"context"
	"fmt"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// memoryBounded is our conclusion about memory.
const memoryBounded = "The memory of submitter, worker and server does not grow with the number of tasks."

// memory compares runs of few and of many tasks, with submitter, worker and
// server in processes of their own.
func (z sizes) memory(ctx context.Context) experiment.Study {
	var st experiment.Study
	name := func(n int) string { return fmt.Sprintf("task=empty/slots=%d/tasks=%d", manySlots, n) }
	for _, n := range []int{z.fewTasks, z.manyTasks} {
		st.Cases = append(st.Cases, experiment.Case{
			Name: name(n), Doc: "an op is a run of all tasks; submitter, worker and server are separate processes", Reference: nameMapSeq,
			Ops: 1, Count: minSamples, Main: true,
			Models: []experiment.Model{{Model: describe(nameMapSeq), Run: func(m *measure.Meter) error { return inSeparateProcesses(ctx, m, n) }}},
		})
	}
	for _, u := range []measure.Unit{measure.SubmitterPeak, measure.WorkerPeak, measure.ServerPeak} {
		st.Claims = append(st.Claims, result.Claim{
			Case: name(z.manyTasks), Model: nameMapSeq, Unit: u, Form: result.Ratio, Than: nameMapSeq, InCase: name(z.fewTasks), Bar: 1.25, Conclusion: memoryBounded,
		})
	}
	return st
}

// minSamples give an interval. A run takes long.
const minSamples = 6

// inSeparateProcesses takes a sample of a run in several processes.
func inSeparateProcesses(ctx context.Context, m *measure.Meter, tasks int) error {
	c, err := newProcesses(ctx)
	if err != nil {
		return err
	}
	_, err = c.add(child{Role: "worker", Slots: manySlots})
	if err == nil {
		var submitter *process
		if submitter, err = c.add(child{Role: "submitter", Tasks: tasks}); err == nil {
			<-submitter.ended // it ends by itself
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
