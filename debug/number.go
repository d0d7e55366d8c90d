package debug

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A number of a pool or a limiter is a column of the tables, and a metric of Prometheus.
type number struct {
	name, kind string
	value      uint64
	help       string
}

// numbers returns the numbers of stats, a PoolStats or a LimiterStats: an int is a gauge, a
// uint64 a counter.
func numbers(stats any) (out []number) {
	v := reflect.ValueOf(stats)
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, help := strings.ToLower(field.Name), v.Type().String()+"."+field.Name
		switch v := v.Field(i); v.Kind() {
		case reflect.Int:
			out = append(out, number{name, "gauge", uint64(v.Int()), help})
		case reflect.Uint64:
			out = append(out, number{name, "counter", v.Uint(), help})
		}
	}
	return out
}

func (p poolStats) numbers() []number    { return numbers(p.PoolStats) }
func (l limiterStats) numbers() []number { return numbers(l.LimiterStats) }

// A cell of a table is a formatted value, and the name of its column.
type cell struct{ Name, Text string }

// Cells returns the columns of a pool.
func (p poolStats) Cells() []cell {
	return cells(p, cell{"tasks/s", rate(p.Throughput)}, cell{"limiter", printable(cmp.Or(p.Limiter, "-"))})
}

// Cells returns the columns of a limiter.
func (l limiterStats) Cells() []cell {
	return cells(l, cell{"tasks/s", measured(l.Throughput)}, cell{"phase", l.Phase}, cell{"reason", cmp.Or(l.Reason, "-")})
}

// cells returns the numbers of an entry, and others.
func cells(entry interface{ numbers() []number }, others ...cell) (out []cell) {
	for _, n := range entry.numbers() {
		out = append(out, cell{n.name, strconv.FormatUint(n.value, 10)})
	}
	return slices.Concat(out, others)
}

// prometheus writes s in the Prometheus text format, version 0.0.4:
// https://prometheus.io/docs/instrumenting/exposition_formats.
func (s snapshot) prometheus(b *bytes.Buffer) {
	families(b, "pool", s.Pools)
	families(b, "limiter", s.Limiters)
}

// families writes a family of samples for each number of the entries of a kind.
func families[E interface{ numbers() []number }](b *bytes.Buffer, kind string, entries map[string]E) {
	// Prometheus ends its text at a zero byte: U+2400 is the picture of one.
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\x00", "\u2400")
	var texts []string
	for entry, e := range sorted(entries) {
		for i, n := range e.numbers() {
			name := "stint_" + kind + "_" + n.name
			if n.kind == "counter" {
				name += "_total"
			}
			if i == len(texts) {
				texts = append(texts, fmt.Sprintf("# HELP %s %s\n# TYPE %s %s\n", name, n.help, name, n.kind))
			}
			texts[i] += fmt.Sprintf("%s{%s=\"%s\"} %d\n", name, kind, escaped.Replace(entry), n.value)
		}
	}
	b.WriteString(strings.Join(texts, ""))
}
