package sha

import (
	"math"
	"testing"

	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, run, sizes{jobs: 1000, long: 1, few: 1, data: 8 << 20}, trial.Want{Processors: 1, Cases: 9, Verdicts: 32}, trial.Want{Processors: 2, Cases: 16, Verdicts: 62})
}

// The sum is that of the digests.
func TestList(t *testing.T) {
	if got := list(1).Want; got == list(2).Want || got != list(1).Item(0) || list(2).Want != got+list(2).Item(1) {
		t.Errorf("the sum of one job is %x, of two %x", got, list(2).Want)
	}
	trial.Wrong(t, list(10))
}

// The article's code allocates what the article says.
func TestShape(t *testing.T) {
	if race.Enabled {
		t.Skip("package fmt allocates more with -race")
	}
	z := sizes{jobs: 10_000}
	figures := []measure.Sample{{measure.Bytes: 639e3, measure.Allocs: 39_754}, {measure.Bytes: 321e3, measure.Allocs: 19_762}}
	for i, model := range z.article().Models {
		least := measure.Sample{measure.Bytes: math.Inf(1), measure.Allocs: math.Inf(1)} // others allocate too
		for round := -1; round < 4; round++ {
			m := &measure.Meter{N: 5, Round: round}
			if err := model.Run(m); err != nil {
				t.Fatal(err)
			}
			for u := range least {
				least[u] = min(least[u], m.Sample()[u])
			}
		}
		for u, want := range figures[i] {
			if got := least[u]; math.Abs(got/want-1) > 0.03 {
				t.Errorf("%s: %v %s, the article has %v", model.Name, got, u, want)
			}
		}
	}
}
