package features

import (
	"os"
	"strings"
	"testing"
)

// The table has a demonstration for each cell, and the article's answers.
func TestAll(t *testing.T) {
	table, err := All()
	if err != nil {
		t.Fatal(err)
	}
	differ := 0
	for i, f := range table.Features {
		for j, c := range table.Cells[i] {
			text, err := os.ReadFile(strings.TrimPrefix(c.File, "lab/features/"))
			if err != nil {
				t.Fatal(err)
			}
			line := strings.Split(string(text)+"\n", "\n")[c.Line-1]
			if !strings.Contains(line, "func") && !strings.Contains(line, "partly(") && !strings.Contains(line, "rillDrops") {
				t.Errorf("%s of %s: line %d of %s is %q", f.Name, table.Libraries[j].Name, c.Line, c.File, line)
			}
			if c.Survey.Answer != "" {
				differ++
				if c.Survey.Answer == c.Answer || !strings.HasSuffix(c.Survey.Why, ".") {
					t.Errorf("%s of %s: %+v does not differ from %s, or does not say why", f.Name, table.Libraries[j].Name, c.Survey, c.Answer)
				}
			}
		}
	}
	if s := table.Survey(); differ != len(survey) || len(s.Features) != 5 || len(s.Libraries) != 3 || s.Cells[4][2].Survey.Answer != Yes {
		t.Errorf("%d cells differ from the article, want %d; its table is %v", differ, len(survey), s)
	}
}

func TestReadErrors(t *testing.T) {
	const first = "Try: A sentence.\n\terrgroup "
	rest := "\n\tconc Yes\n\tants Yes\n\tpond Yes\n\tworkerpool Yes\n\trill Yes\n\tstint Yes"
	for text, want := range map[string]string{
		first + "Yes": "Try has 1 answers, want 7", first + "No" + rest: "is no answer", first + "Yes TryGo" + rest: "is no answer",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
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
		if line := "\n\t" + l.Module + " v"; !strings.Contains(string(mod), strings.TrimSuffix(line+strings.TrimPrefix(l.Version, "v"), "(devel)")) {
			t.Errorf("go.mod has no line %q with %s", strings.TrimSpace(line), l.Version)
		}
	}
}
