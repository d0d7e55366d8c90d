package features

import (
	"os"
	"strings"
	"testing"
)

// The table has what the tests compare with, and a source for each cell.
func TestAll(t *testing.T) {
	table, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for name, l := range adapters {
		if len(l.cells) != len(features) || len(l.api) == 0 {
			t.Errorf("%s has %d cells, want one for each feature and no other, and its API", name, len(l.cells))
		}
	}
	differ := 0
	for i, f := range table.Features {
		for j, c := range table.Cells[i] {
			name := table.Libraries[j].Name
			want := adapters[name].cells[f.Name]
			if c.Answer != want.answer || c.Note != want.note {
				t.Errorf("%s of %s: got %s, %q, want %s, %q", f.Name, name, c.Answer, c.Note, want.answer, want.note)
			}
			text, err := os.ReadFile(strings.TrimPrefix(c.File, "lab/features/"))
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(c.Source, "\n")
			if got := strings.TrimSpace(strings.Split(string(text), "\n")[c.Line-1]); got != first || !strings.HasPrefix(got, `"`+f.Name+`":`) {
				t.Errorf("%s of %s: line %d of %s is %q", f.Name, name, c.Line, c.File, got)
			}
			if !strings.Contains(c.Source, "return grade(") && !strings.Contains(c.Source, "child(") {
				t.Errorf("%s of %s: the source demonstrates nothing:\n%s", f.Name, name, c.Source)
			}
			if c.Survey.Answer != "" {
				differ++
				if c.Survey.Answer == c.Answer || !strings.HasSuffix(c.Survey.Why, ".") {
					t.Errorf("%s of %s: %+v does not differ from %s, or does not say why", f.Name, name, c.Survey, c.Answer)
				}
			}
		}
	}
	if differ != len(survey) {
		t.Errorf("%d cells differ from the article, want %d", differ, len(survey))
	}
}

func TestFillErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "lib has no cell for Try",
		"\t\t\"Try\": {No, \"\", nil},\n":       "lib: Try: the note \"\" is no sentence",
		"\t\t\"Try\": {Yes, \"TryGo\", nil},\n": "is no sentence",
	} {
		table := Table{Features: []Feature{{Name: "Try"}}, Cells: make([][]Cell, 1)}
		if err := table.fill("lib", text, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// A library has the version that is compiled in.
func TestVersions(t *testing.T) {
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range libraries {
		line := "\n\t" + l.Module + " " + l.Version + "\n"
		if l.Version == "(devel)" {
			line = "\n\t" + l.Module + " v"
		}
		if !strings.Contains(string(mod), line) {
			t.Errorf("go.mod has no line %q", strings.TrimSpace(line))
		}
	}
}
