package auto

import (
	"cmp"
	"math"
	"slices"
)

// A table has what was measured at each limit. Old measurements count less and less.
type table []entry

// An entry is a reading at a limit.
type entry struct {
	limit int
	reading
}

const (
	fadeFactor = 0.963 // of the tasks that an entry counts for, after each window at another limit
	leastTasks = 6     // that an entry counts for; with fewer it is dropped

	worseLoss   = 0.1 // of throughput, as a logarithm, with which a limit is worse
	worseErrors = 2   // standard errors that it is to be beyond that
	worseTasks  = 0.5 // of the limit, that the entry still counts for
	worseReach  = 1.3 // of the limit that is to be tried: how far beyond it a limit matters
)

func (t table) find(limit int) (int, bool) {
	return slices.BinarySearchFunc(t, limit, func(e entry, limit int) int { return cmp.Compare(e.limit, limit) })
}

// at returns the reading at a limit, which is empty if there is none.
func (t table) at(limit int) reading {
	if i, ok := t.find(limit); ok {
		return t[i].reading
	}
	return reading{}
}

// put replaces the reading at a limit.
func (t *table) put(limit int, r reading) {
	r.running = float64(limit)
	i, ok := t.find(limit)
	if !ok {
		*t = slices.Insert(*t, i, entry{})
	}
	(*t)[i] = entry{limit, r}
}

// best returns the entry with the highest throughput, except one.
func (t table) best(except int) entry {
	var b entry
	for _, e := range t {
		if e.limit != except && (b.tasks == 0 || e.rate() > b.rate()) {
			b = e
		}
	}
	return b
}

// worse returns the limit next to held, on the way to n or a little beyond n, that is clearly
// worse and was measured not long ago; 0: none.
func (t table) worse(held, n int) int {
	found, h := 0, t.at(held)
	for _, e := range t {
		switch up := n > held; {
		case up && (e.limit <= held || float64(e.limit) > worseReach*float64(n)):
		case !up && (e.limit >= held || e.limit < n):
		case h.tasks == 0 || e.tasks < worseTasks*float64(e.limit):
		default:
			if g, se := gain(h, e.reading); g+worseErrors*se < -worseLoss && (!up || found == 0) {
				found = e.limit
			}
		}
	}
	return found
}

// fade makes all entries but one count less.
func (t *table) fade(except int) {
	for i := range *t {
		if e := &(*t)[i]; e.limit != except {
			e.thin(fadeFactor * e.tasks)
		}
	}
	*t = slices.DeleteFunc(*t, func(e entry) bool { return e.tasks < leastTasks })
}

// scale makes all throughputs f times as high.
func (t table) scale(f float64) {
	for i := range t {
		t[i].time /= f
	}
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
