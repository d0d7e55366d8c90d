package advise

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// plot draws the speedups of rows as bars, with their intervals and a line at
// the loop.
func plot(rows []Row) string {
	name, highest := 0, 1.0
	for _, r := range rows {
		name = max(name, utf8.RuneCountInString(r.Name))
		highest = max(highest, r.Speedup.Median)
		if r.Speedup.Interval != nil {
			highest = max(highest, r.Speedup.Interval.Hi)
		}
	}
	s := scale{highest, width - name - 2}
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%*s  %s\n", name, r.Name, strings.TrimRight(string(s.bar(r)), " "))
	}
	fmt.Fprintf(&b, "%*s  %s", name, "", s.axis())
	return b.String()
}

// A scale maps 0 to highest to cells.
type scale struct {
	highest float64
	cells   int
}

// cell returns the cell of a value.
func (s scale) cell(v float64) int {
	return int(math.Round(max(v, 0) / s.highest * float64(s.cells-1)))
}

// bar is one line: filled up to the median, or up to the visible interval
// around it.
func (s scale) bar(r Row) []rune {
	line := []rune(strings.Repeat(" ", s.cells))
	line[s.cell(1)] = '┊'
	median := s.cell(r.Speedup.Median)
	for i := range median {
		line[i] = '█'
	}
	line[median] = '▏'
	in := r.Speedup.Interval
	if in == nil {
		return line
	}
	lo, hi := s.cell(in.Lo), s.cell(in.Hi)
	if lo == hi || r.Name == loopName {
		return line
	}
	for i := lo; i <= hi; i++ {
		line[i] = '─'
	}
	line[median], line[lo], line[hi] = '┼', '├', '┤'
	return line
}

// axis returns the labels 0, 1 and highest, as far as they fit.
func (s scale) axis() string {
	line := []rune(strings.Repeat(" ", s.cells))
	put := func(at int, text string) {
		at = min(at, s.cells-len(text))
		free := true
		for i := max(at-1, 0); i < min(at+len(text)+1, s.cells); i++ {
			free = free && line[i] == ' '
		}
		if free {
			copy(line[at:], []rune(text))
		}
	}
	put(0, "0")
	put(s.cell(1), "1")
	put(s.cells-1, times(s.highest))
	return strings.TrimRight(string(line), " ")
}
