package limit

import (
	"fmt"
	"math"

	"github.com/stint-go/stint/cmd/stint/internal/machine"
)

const (
	reserve  = 20   // one part of memory in so many stays free
	needFade = 0.98 // what the need of the largest job counts for after each job
	patience = 8    // looks that must allow a higher limit
	manyJobs = 1 << 30
)

// A memory is how much memory jobs need.
type memory struct {
	spare int64         // bytes that are to stay free; 0: a part of what there is
	need  float64       // bytes of the largest job; fades
	last  [patience]int // what was returned last but for the others, in turns; 0: nothing
	turn  int
}

func (m *memory) finished(rss float64) { m.need = max(m.need*needFade, rss) }

// limit returns the largest limit that memory allows, at least 1, and why. running jobs have
// rss bytes together, and may grow up to need each. The limit falls at once, and rises when
// the last looks allow it, since what is available goes up and down.
func (m *memory) limit(running int, rss float64, has machine.Memory) (int, string) {
	m.last[m.turn%patience] = m.allows(running, rss, has)
	m.turn++
	n := math.MaxInt
	for _, most := range m.last {
		if most > 0 {
			n = min(n, most)
		}
	}
	reason := fmt.Sprintf("%s: %d MiB available", has.Bound, has.Available>>20)
	if m.need > 0 {
		reason += fmt.Sprintf(", up to %.0f MiB a job", m.need/(1<<20))
	}
	return n, reason
}

// allows returns the largest limit that memory allows now.
func (m *memory) allows(running int, rss float64, has machine.Memory) int {
	spare := float64(m.spare)
	if spare == 0 {
		spare = float64(has.Total) / reserve
	}
	room := float64(has.Available) - spare - max(0, float64(running)*m.need-rss)
	switch {
	case m.need == 0 && room < 0:
		return max(1, running)
	case m.need == 0:
		return math.MaxInt
	case room < 0:
		return max(1, running-1-int(min(-room/m.need, manyJobs)))
	}
	return max(1, running+int(min(room/m.need, manyJobs)))
}
