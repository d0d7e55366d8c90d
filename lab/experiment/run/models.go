package run

import (
	"context"
	"fmt"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// A check looks at what a run printed.
type check func(m *measure.Meter, output string) error

// model is a tool that runs a batch.
func (l *lab) model(ctx context.Context, t tool, b batch, c check) experiment.Model {
	return experiment.Model{Model: t.Model, Run: func(m *measure.Meter) error {
		return l.measure(ctx, m, l.process(t, b), c)
	}}
}

// measure runs a process.
func (l *lab) measure(ctx context.Context, m *measure.Meter, p measure.Process, c check) error {
	output := l.file("output")
	u, err := l.launcher.Run(ctx, p, output)
	if err != nil {
		return err
	}
	for unit, v := range u.Sample(0) {
		if unit != measure.Rate {
			m.Report(unit, v)
		}
	}
	return c(m, output)
}

// models are tools that run a batch. The output of ours is that of --json if the batch
// says so, which has its own check.
func (l *lab) models(ctx context.Context, b batch, c check, tools ...[]tool) []experiment.Model {
	var out []experiment.Model
	for _, some := range tools {
		for _, t := range some {
			c := c
			if isOurs(t) && len(b.flags) > 0 && b.flags[0] == flagJSON {
				c = l.reported(t, b.items.n)
			}
			out = append(out, l.model(ctx, t, b, c))
		}
	}
	return out
}

// flagJSON makes stint run say what each job was.
const flagJSON = "--json"

// isOurs reports whether a tool is stint run, with any limit.
func isOurs(t tool) bool { return t.Kind == result.Ours || t.Sweep != "" }

// reported checks an output of --json: all jobs have succeeded.
func (l *lab) reported(t tool, n int) check {
	return func(m *measure.Meter, output string) error {
		r, err := readReport(output)
		if err != nil {
			return err
		}
		m.Report(measure.AtOnce, float64(r.atOnce))
		if r.Succeeded != n {
			return fmt.Errorf("%d of %d jobs have succeeded", r.Succeeded, n)
		}
		if t.Kind == result.Ours && m.Round < 0 {
			l.Logf("run: the limit was %d at the end: %s", r.Concurrency.Limit, r.Concurrency.Reason)
		}
		return nil
	}
}

// unchecked is the check of outputs that cannot be wrong.
func unchecked(*measure.Meter, string) error { return nil }

// atMost claims that a value of a model is at most bar.
func atMost(bar float64, unit measure.Unit, kase, conclusion string) result.Claim {
	return result.Claim{Case: kase, Model: nameOurs, Unit: unit, Form: result.Value, Bar: bar, Conclusion: conclusion}
}

// against adds claims about an installed peer.
func (l *lab) against(peer string, claims ...result.Claim) []result.Claim {
	if len(l.peer(peer)) == 0 {
		return nil
	}
	return claims
}
