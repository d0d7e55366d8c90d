package documents

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/report"
	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, func(ctx context.Context, s *experiment.Session) (*report.Result, error) {
		return run(ctx, s, 4)
	}, trial.Want{Processors: 1, Cases: 2, Verdicts: 4}, trial.Want{Processors: 2, Cases: 4, Verdicts: 9})
}

// The documents are the same each time, and hold what is said of them.
func TestDocuments(t *testing.T) {
	l := read(50, 0)
	if got := l.Sum(); got != l.Want || read(50, 0).Want != l.Want {
		t.Errorf("the sum is %d, want %d each time", got, l.Want)
	}
	trial.Wrong(t, l)
	r := rand.New(rand.NewPCG(1, 2))
	total := 0
	for range 50 {
		text, want := feed(r)
		if got, err := find(text); got != want || err != nil {
			t.Errorf("found %d, %v, want %d", got, err, want)
		}
		if n := strings.Count(string(text), "<item>"); n < 8 || n > 12 {
			t.Errorf("%d items, want 8 to 12", n)
		}
		total += want
	}
	if total < 100 || total > 250 {
		t.Errorf("%d of about 500 items have the topic, want about a third", total)
	}
	if _, err := find([]byte("<rss><channel>")); err == nil {
		t.Error("half a document gives no error")
	}
}
