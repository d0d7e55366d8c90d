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

// text writes s as tables: pools, limiters and their changes.
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
				{"tasks/s", perSecond(c.Throughput)}, {"reason", c.Reason},
			})
		}
	}
	for _, t := range []table{pools, limiters, changes} {
		t.write(b)
	}
}

// sorted returns the entries of m, by name.
func sorted[T any](m map[string]T) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !yield(name, m[name]) {
				return
			}
		}
	}
}

// printable returns a name, quoted unless all of it can be printed.
func printable(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return name
	}
	return strconv.Quote(name)
}

// A table is rows with the same columns.
type table [][]cell

// write writes t with a header, after an empty line unless it is the first. Numbers are
// aligned right.
func (t table) write(b *bytes.Buffer) {
	if len(t) == 0 {
		return
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	columns := t.columns()
	var head []cell
	for _, c := range t[0] {
		head = append(head, cell{Text: strings.ToUpper(c.Name)})
	}
	for _, row := range append(table{head}, t...) {
		line := ""
		for i, c := range row {
			room := strings.Repeat(" ", columns[i].width-utf8.RuneCountInString(c.Text))
			if columns[i].numbers {
				line += room + c.Text + "  "
			} else {
				line += c.Text + room + "  "
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// A column has a width, and numbers if the first row has one there. The first column and
// that of limiters have names, even if they are digits.
type column struct {
	width   int
	numbers bool
}

// columns returns the columns of t, which must have a row.
func (t table) columns() []column {
	columns := make([]column, len(t[0]))
	for i, c := range t[0] {
		number := c.Text != "" && strings.Trim(strings.TrimSuffix(c.Text, "/s"), "0123456789,.e+-") == ""
		columns[i] = column{utf8.RuneCountInString(c.Name), number && i > 0 && c.Name != "limiter"}
	}
	for _, row := range t {
		for i, c := range row {
			columns[i].width = max(columns[i].width, utf8.RuneCountInString(c.Text))
		}
	}
	return columns
}
