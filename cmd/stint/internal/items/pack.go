package items

import "iter"

// A packer holds combinations back until they fill jobs.
type packer struct {
	Options
	held  [][]string
	total int // the cost of held
}

// pack yields as many combinations at a time as a job may have. With Fit it holds back what Jobs
// jobs can take, so that it can spread that evenly when the combinations end.
func (it *Items) pack(combinations iter.Seq2[[]string, error], yield func([]string, error) bool) {
	p := packer{Options: it.o}
	if !p.Fit {
		p.Jobs, p.MaxArgs = 1, max(1, p.MaxArgs)
	}
	p.Jobs = max(1, p.Jobs)
	for items, err := range combinations {
		if err != nil {
			yield(nil, err)
			return
		}
		p.held, p.total = append(p.held, items), p.total+p.cost(items)
		for p.full() {
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

// cost returns that of a combination. It is at least 1, so that no job is endless.
func (p *packer) cost(items []string) int {
	sum := 0
	for _, item := range items {
		if p.Budget > 0 {
			sum += p.Cost(item)
		}
	}
	return max(1, sum)
}

// full reports whether a job can start. Without Fit it does not wait for one combination more than
// it may have.
func (p *packer) full() bool {
	most := p.Jobs * p.MaxArgs
	return p.Budget > 0 && (p.total-1)/p.Jobs >= p.Budget || most > 0 && (len(p.held) > most || !p.Fit && len(p.held) == most)
}

// next removes the combinations of the next job, at most n, and returns their items.
func (p *packer) next(n int) []string {
	if p.MaxArgs > 0 {
		n = min(n, p.MaxArgs)
	}
	var job []string
	sum, i := 0, 0
	for ; i < n; i++ {
		cost := p.cost(p.held[i])
		if i > 0 && p.Budget > 0 && sum+cost > p.Budget {
			break
		}
		job, sum = append(job, p.held[i]...), sum+cost
		p.held[i] = nil // let the collector have the items
	}
	p.held, p.total = p.held[i:], p.total-sum
	return job
}
