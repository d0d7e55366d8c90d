package find

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, run, 4, trial.Want{Processors: 1, Cases: 3, Verdicts: 7}, trial.Want{Processors: 2, Cases: 6, Verdicts: 14})
}

// The answer compares the limit found with the best fixed number of the same
// case.
func TestAnswers(t *testing.T) {
	row := func(kase, model string, times ...float64) result.Row {
		out := result.Row{Case: kase, Model: model}
		for _, ns := range times {
			out.Samples = append(out.Samples, measure.Sample{measure.Time: ns, measure.AtOnce: 30})
		}
		return out
	}
	c := "sweep=workers/documents=5"
	r := &result.Result{
		Models: []result.Model{{Name: "workers-1", Sweep: "workers", At: 1}, {Name: "workers-2", Sweep: "workers", At: 2}, {Name: models.NameEach}},
		Cases:  []result.Case{{Name: "documents=5"}, {Name: c}},
		Rows: []result.Row{
			row("documents=5", models.NameEach, 1), row("documents=5", "workers-2", 1),
			row(c, "workers-1", 90, 100, 10), row(c, "workers-2", 70, 80, 75), row(c, models.NameEach, 100, 200, 150),
		},
	}
	want := []string{c + ": stint.Each without an option runs up to 30 concurrently; the fastest fixed number, workers-2, takes 0.50 of its time."}
	if got := answers(r, []string{c}); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The documents are always the same, and match as counted.
func TestDocuments(t *testing.T) {
	l := read(50, 0)
	if got := l.Sum(); got != l.Want || read(50, 0).Want != l.Want {
		t.Errorf("the sum is %d, want %d each time", got, l.Want)
	}
	results := l.Want
	for i := range l.N {
		results -= models.Key(i)
	}
	if n := results / skipped; n != 2 {
		t.Errorf("%d documents are skipped, want 2", n)
	}
	trial.Wrong(t, l)
	r := rand.New(rand.NewPCG(1, 2))
	total := uint64(0)
	for range 50 {
		text, want := feed(r)
		if got := find(text); got != want {
			t.Errorf("found %d, want %d", got, want)
		}
		if got := find(text[:len(text)/2]); got != skipped {
			t.Errorf("found %d in half a document, want that it is skipped", got)
		}
		if n := strings.Count(string(text), "<item>"); n < 8 || n > 12 {
			t.Errorf("%d items, want 8 to 12", n)
		}
		total += want
	}
	if total < 100 || total > 250 {
		t.Errorf("%d of about 500 items have the topic, want about a third", total)
	}
}
