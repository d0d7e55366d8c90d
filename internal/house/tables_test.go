package house

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

func TestTablesAreWhole(t *testing.T) {
	const head = "| a | b |\n|---|:-:|\n"
	one := func(text string) map[string]string { return map[string]string{"a.md": text} }
	verify(t, brokenTables,
		sample{"clean", one("text\n\n" + head + "| 1 | 2 |\n| | |\n\ntext\n\n" + head + "\nx | y\n"), ""},
		sample{"escaped", one(head + `| 1 \| 1 | ` + "`x \\| y` |\n"), ""},
		sample{"code", one(fence + "\n| a |\n| b | c |\n" + fence + "\n\n    | a |\n"), ""},
		sample{"only a head", one(head), ""},
		sample{"blank line", one(head + "| 1 | 2 |\n\n| 3 | 4 |\n| 5 | 6 |\n"), "a.md:5: a table begins here without the line of dashes under its first row"},
		sample{"one row", one("\n| 1 | 2 |\n"), "a.md:2: a table begins"},
		sample{"more", one(head + "| 1 | 2 | 3 |\n"), "a.md:3: a row of 3 cells in a table of 2"},
		sample{"fewer", one(head + "| 1 |\n"), "a.md:3: a row of 1 cells in a table of 2"},
		sample{"dashes", one("| a | b |\n|---|\n"), "a.md:2: a row of 1 cells in a table of 2"},
		sample{"open", one(head + "| 1 | 2\n"), "a.md:3: a row of 1 cells in a table of 2"},
		sample{"pipe in code", one(head + "| 1 | `x || y` |\n"), "a.md:3: a row of 4 cells in a table of 2"},
	)
}

var (
	tableRow = regexp.MustCompile(`^ {0,3}\|`)
	dashes   = regexp.MustCompile(`^ {0,3}\|(\s*:?-+:?\s*\|)+\s*$`)
)

// brokenTables checks that what looks like a table in a Markdown file is one when it is shown: lines
// that begin with a bar, of which the second has dashes, with as many cells in each.
func brokenTables(t *tree) []string {
	var bad []string
	for _, f := range t.files {
		if path.Ext(f.path) != ".md" {
			continue
		}
		lines, cells := unfenced(f.text), 0 // of the table that we are in
		for i, line := range lines {
			n := strings.Count(line, "|") - strings.Count(line, `\|`) - 1 // a bar in code ends a cell too
			switch {
			case !tableRow.MatchString(line):
				cells = 0
			case cells == 0:
				cells = n
				if i+1 == len(lines) || !dashes.MatchString(lines[i+1]) {
					bad = append(bad, f.on(i+1, "a table begins here without the line of dashes under its first row; is it torn by a blank line?"))
				}
			case n != cells:
				bad = append(bad, f.on(i+1, "a row of %d cells in a table of %d; write \\| for a bar that ends none", n, cells))
			}
		}
	}
	return bad
}
