package debug

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
)

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
func table[E interface{ Cells() []cell }](b *bytes.Buffer, kind string, entries map[string]E) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	head := true
	for name, e := range sorted(entries) {
		var columns, row []string
		for _, c := range slices.Insert(e.Cells(), 0, cell{kind, printable(name)}) {
			columns, row = append(columns, strings.ToUpper(c.Name)), append(row, c.Text)
		}
		if head {
			fmt.Fprintln(w, strings.Join(columns, "\t"))
			head = false
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	w.Flush()
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
