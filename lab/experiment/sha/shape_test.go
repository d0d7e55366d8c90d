//go:build !race

package sha

import (
	"math"
	"testing"

	"github.com/stint-go/stint/lab/measure"
)

// The article's code allocates what the article says. With -race, package fmt allocates more.
func TestShape(t *testing.T) {
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
