package features

import (
	"os"
	"strings"
	"testing"
)

// An answer of the article's that differs from the table's has a sentence that says why.
func TestSurvey(t *testing.T) {
	table, err := All()
	if err != nil {
		t.Fatal(err)
	}
	s, differ := table.Survey(), 0
	for _, f := range s.Features {
		for j, c := range f.Cells {
			why := strings.HasSuffix(c.Survey.Why, ".")
			if why != (c.Survey.Answer != c.Answer) {
				t.Errorf("%s of %s: %+v does not differ from %s, or does not say why", f.Name, s.Libraries[j].Name, c.Survey, c.Answer)
			}
			if why {
				differ++
			}
		}
	}
	if differ != len(survey) || len(s.Features) != 5 || len(s.Libraries) != 3 {
		t.Errorf("%d cells differ from the article, want %d; its table is %v", differ, len(survey), s)
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
