package limit

import (
	"fmt"
	"math"

	"github.com/stint-go/stint/cmd/stint/internal/machine"
)

const (
	reserve  = 20   // one part of memory in so many stays free
	needFade = 0.98 // what the need of the largest job counts for after each job
)

// A memory is how much memory jobs need.
type memory struct {
	spare int64   // bytes that are to stay free; 0: a part of what there is
	need  float64 // bytes of the largest job; fades
}

func (m *memory) finished(rss float64) { m.need = max(m.need*needFade, rss) }

// limit returns the largest limit that memory allows, at least 1, and why. running jobs have
// so many bytes together, and may grow up to need each.
func (m *memory) limit(running int, rss float64, has machine.Memory) (int, string) {
	if m.need == 0 {
		return math.MaxInt, ""
	}
	spare := float64(m.spare)
	if spare == 0 {
		spare = float64(has.Total) / reserve
	}
	room := float64(has.Available) - spare - max(0, float64(running)*m.need-rss)
	n := max(1, running+int(room/m.need))
	if room < 0 {
		n = max(1, running-1-int(-room/m.need))
	}
	return n, fmt.Sprintf("%s: %d MiB available, up to %.0f MiB a job", has.Bound, has.Available>>20, m.need/(1<<20))
}
