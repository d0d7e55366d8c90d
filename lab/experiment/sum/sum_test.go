package sum

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/tree"
)

func TestCompare(t *testing.T) {
	const other, order = "other lines than those of gnu", "the lines of gnu in another order"
	for _, c := range []struct {
		text    string
		ordered bool
		want    string
	}{
		{"a\nb\nb\n", true, ""}, {"b\na\nb\n", false, ""}, {"b\na\nb\n", true, order},
		{"a\na\nb\n", false, other}, {"a\nb\nc\n", true, other}, {"a\nb\n", false, other},
	} {
		got := ""
		if err := compare([]byte(c.text), []byte("a\nb\nb\n"), c.ordered); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q, ordered %v: got %q, want %q", c.text, c.ordered, got, c.want)
		}
	}
}

// needTools skips tests where the experiment cannot run.
func needTools(t *testing.T) {
	t.Helper()
	if _, err := tools(t.Context()); err != nil {
		t.Skip(err)
	}
	if os.Getenv("GOWORK") == "off" {
		t.Skip("without the workspace the command cannot be built")
	}
}

// tiny is a tree for tests.
func tiny() tree.Tree {
	return tree.Tree{Seed: 1, Large: 3, LargeSize: 20_000, Small: 120, SmallMin: 0, SmallMax: 3}
}

func TestTreeOfTheClaims(t *testing.T) {
	f, q := full, quick
	if f.Large != 200 || int64(f.Large)*f.LargeSize != 800_000_000 || f.Small != 5000 {
		t.Errorf("the full tree is %+v", f)
	}
	if q.Large != 10 || q.Small != 250 || q.LargeSize != f.LargeSize {
		t.Errorf("the quick tree is %+v", q)
	}
}

func TestRun(t *testing.T) {
	needTools(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	s := &experiment.Session{Count: 2, Command: "test", Log: io.Discard}
	r, err := run(t.Context(), s, tiny())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 6 || len(r.Verdicts) != 4 || len(r.Models) != 3 || len(r.Tools) != 2 {
		t.Errorf("%d rows, %d verdicts, %d models, %d tools; want 6, 4, 3, 2", len(r.Rows), len(r.Verdicts), len(r.Models), len(r.Tools))
	}
	for _, row := range r.Rows {
		if len(row.Samples) != 2 {
			t.Errorf("%s %s: %d samples, want 2", row.Case, row.Model, len(row.Samples))
		}
	}
	for _, v := range r.Verdicts {
		if v.Figures.N != 2 {
			t.Errorf("%s: %d pairs, want 2", v.Case, v.Figures.N)
		}
	}
	if left, err := os.ReadDir(temp); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestInterruptKeepsWhatWasMeasured(t *testing.T) {
	needTools(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := &experiment.Session{Count: 5, Log: io.Discard, Progress: func(what string, done, total int) {
		if what == "sum alg=sha256" && done == 3*total/6 { // the first two rounds, and the warm-up
			cancel()
		}
	}}
	r, err := run(ctx, s, tiny())
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want %v", err, context.Canceled)
	}
	if len(r.Rows) != 3 {
		t.Errorf("%d rows, want the 3 of the first algorithm", len(r.Rows))
	}
	for _, row := range r.Rows {
		if len(row.Samples) != 2 {
			t.Errorf("%s: %d samples, want 2", row.Model, len(row.Samples))
		}
	}
	if len(r.Warnings) == 0 || r.Warnings[0].Kind != result.Interrupted {
		t.Errorf("warnings %v, want %s first", r.Warnings, result.Interrupted)
	}
	if left, err := os.ReadDir(temp); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
