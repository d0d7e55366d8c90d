package features_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stint-go/stint/lab/features"
)

// All fails unless every cell has a test and every test a cell.
func TestAll(t *testing.T) {
	table, err := features.All()
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Libraries) != 7 || len(table.Cells) != len(table.Features) || len(table.Features) < 20 {
		t.Fatalf("%d libraries, %d features, %d rows of cells", len(table.Libraries), len(table.Features), len(table.Cells))
	}
	var names []string
	counts := map[features.Answer]int{}
	for i, f := range table.Features {
		if !strings.HasSuffix(f.Doc, ".") || len(table.Cells[i]) != len(table.Libraries) {
			t.Errorf("%s: %q, %d cells", f.Name, f.Doc, len(table.Cells[i]))
		}
		for j, c := range table.Cells[i] {
			where := table.Libraries[j].Name + ", " + f.Name
			names = append(names, c.Test)
			counts[c.Answer]++
			if r := []rune(c.Note); len(r) > 0 && unicode.IsLower(r[0]) && !strings.Contains(strings.Fields(c.Note)[0], ".") {
				t.Errorf("%s: the note %q begins small", where, c.Note)
			}
			checkSource(t, where, c)
		}
	}
	for _, a := range []features.Answer{features.Yes, features.Partly, features.No} {
		if counts[a] == 0 {
			t.Errorf("no cell says %s", a)
		}
	}
	for _, name := range names {
		for _, other := range names {
			if name != other && strings.Contains(other, name) {
				t.Errorf("-run %s runs %s too", name, other)
			}
		}
	}
}

// asserts are the calls that can fail a demonstration.
var asserts = regexp.MustCompile(`\b(want|contains|deadlocks|crashes|bubbles|ordered|batched)\(t, |\bmethods\[|\bt\.(Error|Fatal)f?\(`)

// checkSource checks that a cell's test exists, runs and can fail.
func checkSource(t *testing.T, where string, c features.Cell) {
	head := "func " + c.Test + "(t *testing.T) {"
	if !strings.HasPrefix(c.Source, head+"\n") || !strings.HasSuffix(c.Source, "\n}") {
		t.Errorf("%s: the source is not that of a test:\n%s", where, c.Source)
	}
	if !asserts.MatchString(c.Source) {
		t.Errorf("%s: nothing in the test can fail", where)
	}
	if strings.Contains(c.Source, ".Skip") || strings.Contains(c.Source, "testing.Short()") {
		t.Errorf("%s: the test may be skipped", where)
	}
	text, err := os.ReadFile(strings.TrimPrefix(c.File, "lab/features/"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(string(text), "//go:build") {
		t.Errorf("%s: %s may be left out of a build", where, c.File)
	}
	if lines := strings.Split(string(text), "\n"); c.Line > len(lines) || lines[c.Line-1] != head {
		t.Errorf("%s: line %d of %s is not %q", where, c.Line, c.File, head)
	}
}

// A library has the version that is compiled in.
func TestVersions(t *testing.T) {
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	table, err := features.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range table.Libraries {
		line := "\n\t" + l.Module + " " + l.Version + "\n"
		if l.Version == "(devel)" {
			line = l.Module + " => ../\n" // alone or in a block
		}
		if !strings.Contains(string(mod), line) {
			t.Errorf("go.mod has no line %q", strings.TrimSpace(line))
		}
	}
}
