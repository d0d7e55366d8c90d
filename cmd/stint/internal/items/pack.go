package items

import "iter"

// A packer holds combinations back until they fill jobs.
type packer struct {
	Options
	held  []combination
	total int // the cost of held
}

type combination struct {
	items []string
	cost  int
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
		p.hold(items)
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

// hold adds a combination. Its cost is at least 1, so that no job is endless.
func (p *packer) hold(items []string) {
	cost := 0
	for _, item := range items {
		if p.Budget > 0 {
			cost += p.Cost(item)
		}
	}
	cost = max(1, cost)
	p.held, p.total = append(p.held, combination{items, cost}), p.total+cost
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
	cost, i := 0, 0
	for ; i < n && (i == 0 || p.Budget == 0 || cost+p.held[i].cost <= p.Budget); i++ {
		job = append(job, p.held[i].items...)
		cost += p.held[i].cost
		p.held[i] = combination{} // let the collector have the items
	}
	p.held, p.total = p.held[i:], p.total-cost
	return job
}
