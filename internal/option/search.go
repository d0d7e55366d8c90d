package option

import (
	"cmp"
	"runtime"

	"github.com/stint-go/stint/internal/auto"
)

// The defaults of a limit that finds itself.
const (
	defaultBurst = 36
	defaultMax   = 256
)

// Search returns what a search between min and max keeps to, on so many processors.
// burst is 0 for the default.
func Search(min, max, burst, procs int) auto.Config {
	if burst == 0 {
		burst = defaultBurst
		if burst <= procs { // one more than can compute, to see whether it can
			burst = procs + 1
		}
	}
	return auto.Config{Min: clip(min), Max: clip(max), Burst: clip(burst), Procs: procs}
}

// clip returns n, or a number of tasks that no process has, and that can be multiplied
// where an int has 32 bits. The comment of Auto has it.
func clip(n int) int { return min(n, 1<<24) }

// Search returns what the search for a limit keeps to when o gives none, on so many
// processors.
func (o *Options) Search(procs int) auto.Config {
	return Search(cmp.Or(o.Min, 1), cmp.Or(o.Max, max(defaultMax, procs)), o.Burst, procs)
}

// Limit returns the limit that o asks for, or the one to begin with.
func (o *Options) Limit() int {
	if l, _ := o.bound(); l != nil {
		return l.Bound()
	}
	return o.Search(runtime.GOMAXPROCS(0)).Start()
}
