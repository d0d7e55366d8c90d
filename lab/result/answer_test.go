package result

import (
	"testing"

	"github.com/stint-go/stint/lab/stats"
)

func TestAnswers(t *testing.T) {
	interval := &stats.Interval{Lo: 1.9, Hi: 2.1, Confidence: 0.97}
	for _, c := range []struct {
		name    string
		form    Form
		bar     float64
		figures stats.Estimate
		want    Answer
	}{
		{"below", Ratio, 2.2, stats.Estimate{N: 6, Median: 2, Interval: interval}, Yes},
		{"at the upper end", Ratio, 2.1, stats.Estimate{N: 6, Median: 2, Interval: interval}, Yes},
		{"inside", Ratio, 2, stats.Estimate{N: 6, Median: 2, Interval: interval}, NotSure},
		{"at the lower end", Ratio, 1.9, stats.Estimate{N: 6, Median: 2, Interval: interval}, NotSure},
		{"above", Ratio, 1.8, stats.Estimate{N: 6, Median: 2, Interval: interval}, No},
		{"fast enough", Speedup, 1.9, stats.Estimate{N: 6, Median: 2, Interval: interval}, Yes},
		{"perhaps", Speedup, 2, stats.Estimate{N: 6, Median: 2, Interval: interval}, NotSure},
		{"too slow", Speedup, 2.2, stats.Estimate{N: 6, Median: 2, Interval: interval}, No},
		{"no interval", Ratio, 9, stats.Estimate{N: 5, Median: 2}, NotSure},
		{"no samples", Ratio, 9, stats.Estimate{}, NotSure},
	} {
		if got := answer(c.figures, c.bar, c.form); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAnswersTogether(t *testing.T) {
	for _, c := range []struct {
		answers Answers
		want    Answer
	}{{Answers{3, 0, 0}, Yes}, {Answers{0, 2, 0}, No}, {Answers{0, 0, 1}, NotSure}, {Answers{1, 0, 1}, NotSure}, {Answers{0, 1, 1}, No}, {Answers{0, 11, 1}, No}, {Answers{1, 1, 1}, InPart}, {Answers{}, NotSure}} {
		if got := c.answers.Combined(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.answers, got, c.want)
		}
	}
}
