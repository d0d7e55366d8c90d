package items

import (
	"fmt"
	"iter"

	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// A packer holds combinations back until they fill jobs.
type packer struct {
	Options
	held  []combination
	total int64 // the cost of held
}

type combination struct {
	items []string
	cost  int
}

// pack yields as many combinations at a time as fit. It holds back what Jobs jobs can
// take, so that it can spread that evenly when the combinations end.
func (it *Items) pack(combinations iter.Seq2[[]string, error], yield func([]string, error) bool) {
	p := packer{Options: it.o}
	p.Jobs = max(1, p.Jobs)
	for items, err := range combinations {
		if err == nil {
			err = p.hold(items)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for p.total > int64(p.Jobs)*int64(p.Budget) || p.MaxArgs > 0 && len(p.held) > p.Jobs*p.MaxArgs {
			if !yield(p.next(len(p.held)), nil) {
				return
			}
		}
	}
	for jobs := p.Jobs; len(p.held) > 0; jobs = max(1, jobs-1) {
		if !yield(p.next((len(p.held)-1)/jobs+1), nil) {
			return
		}
	}
}

// hold adds a combination. Its cost is at least 1, so that no job is endless.
func (p *packer) hold(items []string) error {
	cost := 0
	for _, item := range items {
		cost += p.Cost(item)
	}
	if cost > p.Budget {
		return tooLong(items, p.Budget)
	}
	cost = max(1, cost)
	p.held = append(p.held, combination{items, cost})
	p.total += int64(cost)
	return nil
}

// next removes the combinations of the next job, at most n, and returns their items.
func (p *packer) next(n int) []string {
	if p.MaxArgs > 0 {
		n = min(n, p.MaxArgs)
	}
	var job []string
	room := p.Budget
	i := 0
	for ; i < n && p.held[i].cost <= room; i++ {
		job = append(job, p.held[i].items...)
		room -= p.held[i].cost
		p.total -= int64(p.held[i].cost)
		p.held[i] = combination{} // let the collector have the items
	}
	p.held = p.held[i:]
	return job
}

// tooLong returns the error for items that do not fit in a job of their own.
func tooLong(items []string, budget int) error {
	const shown = 40
	longest := items[0]
	for _, item := range items {
		if len(item) > len(longest) {
			longest = item
		}
	}
	return fmt.Errorf("an item of %d bytes does not fit on a command line, which has %d for items: %s",
		len(longest), budget, console.Quote(longest[:min(shown, len(longest))]))
}
