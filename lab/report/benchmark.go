package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"golang.org/x/perf/benchfmt"
)

// writeBenchmark writes the samples of results in the Go benchmark format, one
// line per run in running order, after the configuration. It leaves out upper
// bounds of peak memory, which benchstat would compare. A result without samples
// gets a line that says so, which programs skip.
func writeBenchmark(w io.Writer, results []*result.Result) error {
	out := benchfmt.NewWriter(w)
	for _, r := range results {
		if r.Summary {
			if _, err := fmt.Fprintf(w, "# %s: a summary, which has no samples for this format; go run ./lab compare reads it\n", r.Experiment); err != nil {
				return err
			}
		}
		var config []benchfmt.Config
		for _, c := range [][2]string{
			{"goos", r.Machine.GOOS}, {"goarch", r.Machine.GOARCH}, {"cpu", r.Machine.CPU}, {"go", r.Machine.Go},
			{"workload", r.Workload}, {"tools", strings.Join(r.Tools, "; ")},
		} {
			if c[1] != "" {
				config = append(config, benchfmt.Config{Key: c[0], Value: []byte(c[1]), File: true})
			}
		}
		for _, c := range r.Cases {
			rows := r.In(c.Name)
			for round := range slices.Max(append(each(rows, (*result.Row).N), 0)) {
				for _, row := range rows {
					if round >= len(row.Samples) {
						continue
					}
					name := fmt.Sprintf("%s/%s/model=%s-%d", strings.ToUpper(r.Experiment[:1])+r.Experiment[1:], c.Name, row.Model, r.ProcessorsOf(c))
					line := &benchfmt.Result{Config: config, Name: benchfmt.Name(name), Iters: c.Ops, Values: values(row.Samples[round])}
					if err := out.Write(line); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func values(s measure.Sample) []benchfmt.Value {
	var out []benchfmt.Value
	for _, c := range columns {
		if v, ok := s[c.unit]; ok && c.unit != measure.PeakRSSBound {
			out = append(out, benchfmt.Value{Value: v, Unit: string(c.unit)})
		}
	}
	return out
}
