package debug

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/stint-go/stint"
)

// A metric is a family of the Prometheus text format, with a sample for each entry of a
// Handler.
type metric[S any] struct {
	name, kind, help string
	value            func(S) uint64
}

var poolMetrics = []metric[stint.PoolStats]{
	{"limit", "gauge", "Tasks that may run at once.", func(s stint.PoolStats) uint64 { return uint64(s.Limit) }},
	{"running", "gauge", "Tasks that have started and not finished.", func(s stint.PoolStats) uint64 { return uint64(s.Running) }},
	{"queued", "gauge", "Tasks that were accepted and have not started.", func(s stint.PoolStats) uint64 { return uint64(s.Queued) }},
	{"waiting", "gauge", "Submitters that wait for room in a queue.", func(s stint.PoolStats) uint64 { return uint64(s.Waiting) }},
	{"workers", "gauge", "Goroutines of the pool.", func(s stint.PoolStats) uint64 { return uint64(s.Workers) }},
	{"idle_workers", "gauge", "Goroutines without a task, or that wait for a permit.", func(s stint.PoolStats) uint64 { return uint64(s.Idle) }},
	{"completed_total", "counter", "Tasks that have finished, in any way.", func(s stint.PoolStats) uint64 { return s.Completed }},
	{"failed_total", "counter", "Tasks that ended in an error, a panic or a Goexit.", func(s stint.PoolStats) uint64 { return s.Failed }},
	{"dropped_total", "counter", "Tasks that were accepted and never started.", func(s stint.PoolStats) uint64 { return s.Dropped }},
	{"refused_total", "counter", "Tasks that TryGo did not accept for want of room.", func(s stint.PoolStats) uint64 { return s.Refused }},
}

var limiterMetrics = []metric[stint.LimiterStats]{
	{"limit", "gauge", "Tasks that may run at once.", func(s stint.LimiterStats) uint64 { return uint64(s.Limit) }},
	{"running", "gauge", "Permits that are held.", func(s stint.LimiterStats) uint64 { return uint64(s.Running) }},
	{"waiting", "gauge", "Calls, groups and pools that wait for a permit.", func(s stint.LimiterStats) uint64 { return uint64(s.Waiting) }},
	{"completed_total", "counter", "Tasks that have finished, in any way.", func(s stint.LimiterStats) uint64 { return s.Completed }},
	{"failed_total", "counter", "Tasks that ended in an error, a panic or a Goexit.", func(s stint.LimiterStats) uint64 { return s.Failed }},
	{"waited_total", "counter", "Permits that somebody waited for and got.", func(s stint.LimiterStats) uint64 { return s.Waited }},
	{"refused_total", "counter", "Tasks that were refused a permit instead of waiting.", func(s stint.LimiterStats) uint64 { return s.Refused }},
	{"backoffs_total", "counter", "Times that overload or short memory lowered the limit.", func(s stint.LimiterStats) uint64 { return s.Backoffs }},
}

// prometheus writes s in the Prometheus text format, version 0.0.4:
// https://prometheus.io/docs/instrumenting/exposition_formats.
func (s snapshot) prometheus(b *bytes.Buffer) {
	families(b, "pool", poolMetrics, s.Pools, func(p poolStats) stint.PoolStats { return p.PoolStats })
	families(b, "limiter", limiterMetrics, s.Limiters, func(l limiterStats) stint.LimiterStats { return l.LimiterStats })
}

// families writes the metrics of all entries of a kind, labelled with their names.
func families[E, S any](b *bytes.Buffer, kind string, metrics []metric[S], entries map[string]E, stats func(E) S) {
	if len(entries) == 0 {
		return
	}
	// Prometheus ends its text at a zero byte: U+2400 is the picture of one.
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\x00", "\u2400")
	for _, m := range metrics {
		name := "stint_" + kind + "_" + m.name
		fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, m.help, name, m.kind)
		for entry, e := range sorted(entries) {
			fmt.Fprintf(b, "%s{%s=\"%s\"} %s\n", name, kind, escaped.Replace(entry), strconv.FormatUint(m.value(stats(e)), 10))
		}
	}
}
