// Package testterm has a terminal for tests: what it shows, and on Linux a pseudo-terminal.
package testterm

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Screen shows what is written to it as a terminal does. It knows the carriage return, the newline,
// the colours, characters of two columns, and that a line goes on when the next character has no room.
// Its lines do not scroll away.
type Screen struct {
	Columns int

	lines   [][]rune // a 0 is the second half of the character before it
	x       int      // the column of the cursor, on the last line
	partial []byte   // of a character or an escape sequence
}

var colour = regexp.MustCompile(`^\x1b\[[0-9;]*m`)

// Write shows b. It returns no error.
func (s *Screen) Write(b []byte) (int, error) {
	rest := append(s.partial, b...)
	for len(rest) > 0 && utf8.FullRune(rest) {
		if rest[0] == '\x1b' {
			n := len(colour.Find(rest))
			if n == 0 {
				break
			}
			rest = rest[n:]
			continue
		}
		r, n := utf8.DecodeRune(rest)
		rest = rest[n:]
		s.put(r)
	}
	s.partial = slices.Clone(rest)
	return len(b), nil
}

func (s *Screen) put(r rune) {
	if s.lines == nil {
		s.lines = [][]rune{nil}
	}
	cells := []rune{r}
	switch {
	case r == '\r':
		s.x = 0
		return
	case r == '\n': // with a carriage return, as the system adds it
		s.lines, s.x = append(s.lines, nil), 0
		return
	case r >= 0x1100: // close enough
		cells = []rune{r, 0}
	}
	if s.x+len(cells) > s.Columns {
		s.lines, s.x = append(s.lines, nil), 0
	}
	line := &s.lines[len(s.lines)-1]
	for len(*line) < s.x+len(cells) {
		*line = append(*line, ' ')
	}
	s.x += copy((*line)[s.x:], cells)
}

// Resize changes the width. A narrower screen loses what is beyond its margin.
func (s *Screen) Resize(columns int) {
	for i, line := range s.lines {
		s.lines[i] = line[:min(len(line), columns)]
	}
	s.Columns, s.x = columns, min(s.x, columns-1)
}

// String returns the lines, without the blanks at their ends.
func (s *Screen) String() string {
	var b strings.Builder
	for i, line := range s.lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		text := strings.ReplaceAll(string(line), "\x00", "")
		b.WriteString(strings.TrimRight(text, " "))
	}
	return b.String()
}
