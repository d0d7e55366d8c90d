package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"golang.org/x/perf/benchfmt"
)

// writeBenchmark writes results in the Go benchmark format, one line per run
// after the configuration. It leaves out upper bounds of peak memory, which
// benchstat would compare.
func writeBenchmark(w io.Writer, results []*result.Result) error {
	out := benchfmt.NewWriter(w)
	for _, r := range results {
		if err := runs(out, r); err != nil {
			return err
		}
	}
	return nil
}

// runs writes one result.
func runs(out *benchfmt.Writer, r *result.Result) error {
	config := configuration(r)
	for _, c := range r.Cases {
		rows := r.In(c.Name)
		longest := 0
		for _, row := range rows {
			longest = max(longest, len(row.Samples))
		}
		for round := range longest { // in running order
			for _, row := range rows {
				if round >= len(row.Samples) {
					continue
				}
				line := &benchfmt.Result{Config: config, Iters: c.Ops, Values: values(row.Samples[round])}
				line.Name = benchfmt.Name(fmt.Sprintf("%s/%s/model=%s-%d", title(r.Experiment), c.Name, row.Model, r.ProcessorsOf(c)))
				if err := out.Write(line); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func configuration(r *result.Result) []benchfmt.Config {
	var config []benchfmt.Config
	add := func(key, value string) {
		if value != "" {
			config = append(config, benchfmt.Config{Key: key, Value: []byte(value), File: true})
		}
	}
	m := r.Machine
	add("goos", m.GOOS)
	add("goarch", m.GOARCH)
	add("cpu", m.CPU)
	add("go", m.Go)
	add("workload", r.Workload)
	add("tools", strings.Join(r.Tools, "; "))
	return config
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

// title returns an experiment's name as a benchmark name.
func title(name string) string {
	return strings.ToUpper(name[:1]) + name[1:]
}
