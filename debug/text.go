package debug

import (
	"bytes"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// text writes s as tables: the pools, the limiters, and what these have changed.
func (s snapshot) text(b *bytes.Buffer) {
	if len(s.Pools)+len(s.Limiters) == 0 {
		b.WriteString("Nothing was added yet. In the program, call Handler.AddPool and Handler.AddLimiter.\n")
		return
	}
	var pools, limiters, changes table
	for name, p := range sorted(s.Pools) {
		pools = append(pools, slices.Insert(p.Cells(), 0, cell{"pool", printable(name)}))
	}
	for name, l := range sorted(s.Limiters) {
		named := cell{"limiter", printable(name)}
		limiters = append(limiters, append([]cell{named}, append(l.Cells(), cell{"reason", l.Reason})...))
		for _, c := range l.History {
			changes = append(changes, []cell{
				named, {"changed", c.Time.UTC().Format("2006-01-02T15:04:05.000Z")}, {"limit", strconv.Itoa(c.Limit)},
				{"tasks/s", rate(measured(c.Throughput))}, {"reason", c.Reason},
			})
		}
	}
	for _, t := range []table{pools, limiters, changes} {
		t.write(b)
	}
}

// sorted are the entries of m, by name.
func sorted[T any](m map[string]T) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !yield(name, m[name]) {
				return
			}
		}
	}
}

// printable is a name in one line, with nothing in it that a terminal would obey.
func printable(name string) string {
	if utf8.ValidString(name) && strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return name
	}
	return strconv.Quote(name)
}

// A table is rows of the same columns.
type table [][]cell

// write writes t below the names of its columns, and below an empty line if there is
// something above it. Numbers stand at the right of their column.
func (t table) write(b *bytes.Buffer) {
	if len(t) == 0 {
		return
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	var head []cell
	for _, c := range t[0] {
		head = append(head, cell{Text: strings.ToUpper(c.Name)})
	}
	rows := append(table{head}, t...)
	for _, row := range rows {
		line := ""
		for i, c := range row {
			room := strings.Repeat(" ", rows.wide(i)-utf8.RuneCountInString(c.Text))
			if t.numbers(i) {
				line += room + c.Text + "  "
			} else {
				line += c.Text + room + "  "
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// wide is how wide a column is.
func (t table) wide(column int) int {
	most := 0
	for _, row := range t {
		most = max(most, utf8.RuneCountInString(row[column].Text))
	}
	return most
}

// numbers reports whether a column has numbers. The first one has names.
func (t table) numbers(column int) bool {
	text := t[0][column].Text
	return column > 0 && text != "" && strings.Trim(text, "0123456789.e-") == ""
}
