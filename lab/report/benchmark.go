package report

import (
	"fmt"
	"io"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// Benchmark writes r in the Go benchmark format, one line a run, below lines
// that say where, of what and by which command. Peaks of memory that are only
// bounds are left out: benchstat would compare them.
func Benchmark(w io.Writer, r *Result) error {
	out := benchfmt.NewWriter(w)
	config := configuration(r)
	longest := 0
	for _, row := range r.Rows {
		longest = max(longest, len(row.Samples))
	}
	for round := range longest { // in the order of the runs
		for i := range r.Rows {
			row := &r.Rows[i]
			if round >= len(row.Samples) {
				continue
			}
			line := &benchfmt.Result{Config: config, Iters: 1, Values: values(row, round)}
			line.Name = benchfmt.Name(fmt.Sprintf("%s/%s/model=%s-%d", title(r.Experiment), row.Case, row.Model, r.Processors))
			if err := out.Write(line); err != nil {
				return err
			}
		}
	}
	return nil
}

func configuration(r *Result) []benchfmt.Config {
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
	add("command", r.Command)
	add("workload", r.Workload)
	add("tools", strings.Join(r.Tools, "; "))
	return config
}

func values(row *Row, round int) []benchfmt.Value {
	u := row.Samples[round]
	v := []benchfmt.Value{
		{Value: float64(u.Wall.Nanoseconds()), Unit: "ns/op"},
		{Value: float64(row.Bytes) / 1e6 / u.Wall.Seconds(), Unit: "MB/s"},
		{Value: float64(u.CPU.Nanoseconds()), Unit: "cpu-ns/op"},
	}
	if u.PeakRSS > 0 && !u.Hidden() {
		v = append(v, benchfmt.Value{Value: float64(u.PeakRSS), Unit: "peak-RSS-bytes"})
	}
	return v
}

// title is an experiment's name as that of a benchmark.
func title(name string) string {
	return strings.ToUpper(name[:1]) + name[1:]
}
