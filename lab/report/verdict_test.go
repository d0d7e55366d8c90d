package report

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/result/resulttest"
)

func TestForms(t *testing.T) {
	r := resulttest.Example()
	best := resulttest.Claim(result.Ratio, 0.6)
	best.Than = result.BestPeer
	hard := resulttest.Claim(result.Speedup, 1.9)
	unknown := resulttest.Claim(result.Ratio, 1)
	unknown.Model = "other"
	bound := resulttest.Claim(result.Value, 8.5e6)
	bound.Unit, bound.Than = measure.PeakRSS, ""
	other := resulttest.Claim(result.Ratio, 1)
	other.Model, other.Than, other.InCase = "gnu", "stint", "alg=md5"
	for _, c := range []struct {
		claim result.Claim
		want  string
	}{
		{resulttest.Claim(result.Ratio, 0.51), "yes stint: time/op at most 0.51 x gnu: 0.500 [0.495, 0.500]"},
		{hard, "yes stint: at least 1.9 x as fast as gnu: 2.00 [2.00, 2.02]"},
		{resulttest.Claim(result.Difference, -48e6), "yes stint: time/op at most -48.0 ms more than gnu: -50.5 ms [-52.0 ms, -50.0 ms]"},
		{best, "yes stint: time/op at most 0.6 x best peer (it is gnu): 0.500 [0.495, 0.500]"},
		{bound, "yes stint: peak RSS at most 8.50 MB: 8.39 MB [8.39 MB, 8.39 MB]"},
		{other, "no gnu: time/op at most 1 x stint in alg=md5: 2.00 [2.00, 2.02]"},
		{unknown, "not sure other: time/op at most 1 x gnu: not measured"},
	} {
		r.Conclude([]result.Claim{c.claim})
		v := r.Verdicts[0]
		if got := string(v.Answer) + " " + verdictText(v) + ": " + short(v.Figures, formatOf(v)); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestConclusions(t *testing.T) {
	got := each(result.Conclusions([]*result.Result{resulttest.Example(), wide()}), func(c result.Conclusion) string {
		return fmt.Sprint(c.Text, c.Experiments, " ", len(c.Verdicts), " ", answerText(result.AnswersOf(c.Verdicts)))
	})
	if want := []string{"Ours is faster.[wide] 9 5 yes, 3 no, 1 not sure", "Three is as one.[wide] 1 no"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
