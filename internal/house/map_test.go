package house

import (
	"regexp"
	"slices"
	"testing"
)

func TestMapNamesPackages(t *testing.T) {
	with := func(text string) map[string]string {
		return map[string]string{
			"ARCHITECTURE.md":    "# Architecture\n\n" + text,
			"a.go":               "package stint\n",
			"par/a_test.go":      "package par\n",
			"examples/web/a.go":  "package main\n",
			"cmd/stint/go.mod":   "module m\n",
			"cmd/stint/in/in.go": "package in\n",
		}
	}
	verify(t, unmapped,
		sample{"clean", with("| `.` | all |\n| `par` | sums |\n| `examples/...` | programs |\n"), ""},
		sample{"not there yet", with("| `.` | all |\n| `par` | sums |\n| `examples/web` | a program |\n| `coming` | more |\n"), ""},
		sample{"missing", with("| `.` | all |\n| `examples/...` | programs |\n"), "par/a_test.go:1: par is not on the map"},
		sample{"below", with("| `.` | all |\n| `par` | sums |\n| `examples` | programs |\n"), "examples/web is not on the map"},
		sample{"other module", map[string]string{"ARCHITECTURE.md": "# Architecture\n", "cluster/go.mod": "", "cluster/a.go": "package cluster\n"}, "cluster/a.go:1: cluster is not on the map"},
		sample{"prose", with("`.` and `par`\n\n| `par` | sums |\n| `examples/...` | programs |\n"), "a.go:1: stint itself is not on the map"},
		sample{"no map", map[string]string{"a.go": "package stint\n"}, "ARCHITECTURE.md:1: missing"},
	)
}

// mapped is a row of a table that is about a package, or about x/... .
var mapped = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

// unmapped checks that the map, the tables of ARCHITECTURE.md, has a row for every
// package of the modules that are released. The map of another is its own affair.
func unmapped(t *tree) []string {
	page := t.file("ARCHITECTURE.md")
	if page == nil {
		return []string{"ARCHITECTURE.md:1: missing; write it, the packages are listed there"}
	}
	var rows []string
	for _, m := range mapped.FindAllStringSubmatch(page.text, -1) {
		rows = append(rows, m[1])
	}
	var bad []string
	known := map[string]bool{}
	for _, f := range t.golang(func(f *file) bool { return slices.Contains(released, t.module(f.path)) }) {
		dir := f.dir()
		if !known[dir] && !inAny(rows, dir) {
			bad = append(bad, f.on(1, "%s is not on the map; add a row to ARCHITECTURE.md that says what it is", label(dir)))
		}
		known[dir] = true
	}
	return bad
}
