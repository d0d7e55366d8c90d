package sort

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

const (
	bubble      = "bubble"
	bubbleSplit = "bubble-split"
)

// noWin is the conclusion of the article.
const noWin = "Splitting a bubble sort does not pay: nothing merges the parts cheaply."

// bubbles measures a sort of quadratic time, whole and split: each part takes a
// quarter of the time, but the parts are not merged, they are sorted once more.
func (z sizes) bubbles(yield func(experiment.Study) bool) {
	const n = 2000
	parts := max(2, z.p)
	split := fmt.Sprintf("%d strides bubble sorted, a goroutine each, then a bubble sort of the whole", parts)
	sorters := append(ordered[int](),
		sorter[int]{result.Peer.Model(bubble, "bubble sort, which ends after a pass without an exchange"), sortBubble, false},
		sorter[int]{result.Peer.Model(bubbleSplit, split), func(s []int) { sortStrides(s, parts) }, false})
	st := compare(z, fmt.Sprintf("list=short/n=%d", n), n, ints, draw((*rand.Rand).Int), sorters, target{})
	for _, c := range st.Cases {
		st.Claims = append(st.Claims, result.Claim{
			Case: c.Name, Model: bubble, Unit: measure.Time, Form: result.Ratio, Than: bubbleSplit, Bar: 1, Conclusion: noWin,
		})
	}
	yield(st)
}

func sortBubble(s []int) {
	for end := len(s); end > 1; end-- {
		exchanged := false
		for i := 1; i < end; i++ {
			if s[i] < s[i-1] {
				s[i], s[i-1] = s[i-1], s[i]
				exchanged = true
			}
		}
		if !exchanged {
			return
		}
	}
}

func sortStrides(s []int, parts int) {
	var wg sync.WaitGroup
	for p := range parts {
		wg.Go(func() { sortBubble(s[p*len(s)/parts : (p+1)*len(s)/parts]) })
	}
	wg.Wait()
	sortBubble(s)
}
