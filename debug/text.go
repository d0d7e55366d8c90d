package debug

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
)

// A cell of a table. A cell that has a kind is a number, and a metric of Prometheus.
type cell struct{ Name, Text, kind, help string }

// A row has the cells of a pool or a limiter, the numbers first.
type row interface{ Cells() []cell }

// Cells returns the columns of a pool.
func (p poolStats) Cells() []cell {
	return cells(p.PoolStats, cell{Name: "tasks/s", Text: rate(p.Throughput)}, cell{Name: "limiter", Text: printable(cmp.Or(p.Limiter, "-"))})
}

// Cells returns the columns of a limiter.
func (l limiterStats) Cells() []cell {
	return cells(l.LimiterStats, cell{Name: "tasks/s", Text: measured(l.Throughput)}, cell{Name: "phase", Text: l.Phase}, cell{Name: "reason", Text: cmp.Or(l.Reason, "-")})
}

// cells returns the numbers of stats, a PoolStats or a LimiterStats, and others: an int is a
// gauge, a uint64 a counter.
func cells(stats any, others ...cell) (out []cell) {
	kinds := map[reflect.Kind]string{reflect.Int: "gauge", reflect.Uint64: "counter"}
	v := reflect.ValueOf(stats)
	for i := range v.NumField() {
		if kind := kinds[v.Field(i).Kind()]; kind != "" {
			name := v.Type().Field(i).Name
			out = append(out, cell{strings.ToLower(name), fmt.Sprint(v.Field(i)), kind, v.Type().String() + "." + name})
		}
	}
	return append(out, others...)
}

// text writes s as two tables.
func (s snapshot) text(b *bytes.Buffer) {
	table(b, "pool", s.Pools)
	if len(s.Pools) > 0 && len(s.Limiters) > 0 {
		b.WriteByte('\n')
	}
	table(b, "limiter", s.Limiters)
	if b.Len() == 0 {
		b.WriteString("Nothing was added yet. In the program, call Handler.AddPool and Handler.AddLimiter.\n")
	}
}

// table writes the entries of a kind below the names of their columns.
func table[E row](b *bytes.Buffer, kind string, entries map[string]E) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for i, name := range slices.Sorted(maps.Keys(entries)) {
		head, line := strings.ToUpper(kind), printable(name)
		for _, c := range entries[name].Cells() {
			head += "\t" + strings.ToUpper(c.Name)
			line += "\t" + c.Text
		}
		if i == 0 {
			fmt.Fprintln(w, head)
		}
		fmt.Fprintln(w, line)
	}
	w.Flush()
}

// prometheus writes s in the Prometheus text format, version 0.0.4:
// https://prometheus.io/docs/instrumenting/exposition_formats.
func (s snapshot) prometheus(b *bytes.Buffer) {
	families(b, "pool", s.Pools)
	families(b, "limiter", s.Limiters)
}

// families writes a family of samples for each number of the entries of a kind.
func families[E row](b *bytes.Buffer, kind string, entries map[string]E) {
	// Prometheus ends its text at a zero byte: U+2400 is the picture of one.
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\x00", "\u2400")
	var texts []string
	for _, entry := range slices.Sorted(maps.Keys(entries)) {
		for i, c := range entries[entry].Cells() {
			if c.kind == "" {
				break
			}
			name := "stint_" + kind + "_" + c.Name
			if c.kind == "counter" {
				name += "_total"
			}
			if i == len(texts) {
				texts = append(texts, fmt.Sprintf("# HELP %s %s\n# TYPE %s %s\n", name, c.help, name, c.kind))
			}
			texts[i] += fmt.Sprintf("%s{%s=\"%s\"} %s\n", name, kind, escaped.Replace(entry), c.Text)
		}
	}
	b.WriteString(strings.Join(texts, ""))
}

// printable returns a name, quoted unless all of it can be printed.
func printable(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// measured formats the throughput of a limiter, which is 0 if none was measured.
func measured(perSecond float64) string {
	if perSecond == 0 {
		return "-"
	}
	return rate(&perSecond)
}

// rate formats a throughput with three digits, or all before the decimal point, or a dash if
// it is unknown.
func rate(perSecond *float64) string {
	switch {
	case perSecond == nil:
		return "-"
	case *perSecond < 99.95:
		return strconv.FormatFloat(*perSecond, 'g', 3, 64)
	}
	return strconv.FormatFloat(*perSecond, 'f', 0, 64)
}
