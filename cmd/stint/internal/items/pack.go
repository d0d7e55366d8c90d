package items

import "iter"

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
		if err != nil {
			yield(nil, err)
			return
		}
		p.hold(items)
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
func (p *packer) hold(items []string) {
	c := combination{items, max(1, p.cost(items))}
	p.held = append(p.held, c)
	p.total += int64(c.cost)
}

// cost returns the sum over items.
func (o *Options) cost(items []string) int {
	sum := 0
	for _, item := range items {
		sum += o.Cost(item)
	}
	return sum
}

// next removes the combinations of the next job, at most n, and returns their items.
func (p *packer) next(n int) []string {
	if p.MaxArgs > 0 {
		n = min(n, p.MaxArgs)
	}
	var job []string
	room := p.Budget
	i := 0
	for ; i < n && (i == 0 || p.held[i].cost <= room); i++ {
		job = append(job, p.held[i].items...)
		room -= p.held[i].cost
		p.total -= int64(p.held[i].cost)
		p.held[i] = combination{} // let the collector have the items
	}
	p.held = p.held[i:]
	return job
}
