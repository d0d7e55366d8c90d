package auto

import "math"

const (
	cellsPerDouble = 4     // cells of a table for each factor of 2
	fadeFactor     = 0.963 // of the tasks that a cell counts for, after each window at another limit
)

// A table has what was measured at each limit. Limits of one cell, less than a factor of ∜2 apart,
// are not told apart. Old measurements count less and less.
type table [64]reading

func cellOf(limit int) int {
	return min(int(math.Round(cellsPerDouble*math.Log2(float64(max(1, limit))))), len(table{})-1)
}

// at returns the reading at a limit, which is empty if there is none.
func (t *table) at(limit int) reading { return t[cellOf(limit)] }

// put replaces the reading at a limit.
func (t *table) put(limit int, r reading) {
	r.running = float64(limit)
	t[cellOf(limit)] = r
}

// fade makes all cells but that of one limit count less.
func (t *table) fade(except int) {
	skipped := cellOf(except)
	for i := range t {
		c := &t[i]
		if i == skipped {
			continue
		}
		if c.thin(fadeFactor * c.tasks); c.tasks < minTasks {
			*c = reading{}
		}
	}
}

// best returns the reading with the highest throughput, except that of one limit.
func (t *table) best(except int) (b reading) {
	skipped := cellOf(except)
	for i, c := range t {
		if i != skipped && c.tasks > 0 && (b.tasks == 0 || c.rate() > b.rate()) {
			b = c
		}
	}
	return b
}

// thin makes r count for at most n tasks.
func (r *reading) thin(n float64) {
	if r.tasks > n {
		r.time *= n / r.tasks
		r.tasks = n
	}
}

// gain returns how much higher the throughput of b is than that of a, as a logarithm, and
// its standard error for tasks that finish independently.
func gain(a, b reading) (g, se float64) {
	return math.Log(b.rate() / a.rate()), math.Sqrt(1/a.tasks + 1/b.tasks)
}
