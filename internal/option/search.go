package option

import (
	"cmp"
	"runtime"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/limit"
)

// The defaults of an adaptive limit.
const (
	defaultBurst = 42
	defaultMax   = 256
)

// Search configures an adaptive limit between min and max, on so many CPUs.
func Search(min, max, procs int) auto.Config {
	burst := defaultBurst
	if burst <= procs { // one more shows whether the tasks compute
		burst = procs + 1
	}
	return auto.Config{Min: Clip(min), Max: Clip(max), Burst: burst, Procs: procs}
}

// Clip returns n, or at most a number of tasks that no process reaches, which can be
// multiplied in an int of 32 bits.
func Clip(n int) int { return min(n, 1<<24) }

// Search configures the adaptive limit of a call without a Limiter, on so many CPUs.
func (o *Options) Search(procs int) auto.Config {
	return Search(cmp.Or(o.Min, 1), cmp.Or(o.Max, max(defaultMax, procs)), procs)
}

// Inherit makes a call that the task with scope s makes, and that is given neither a Limiter
// nor a Pool, share the limit of the call that started the task, if that was given neither.
func (o *Options) Inherit(s *limit.Scope) {
	if o.Limiter != nil || o.Engine != nil {
		return
	}
	l := s.Inherited()
	if l == nil {
		return
	}
	o.Limiter, o.Nested = l, true
}

// Limit returns the limit that o asks for, or that an adaptive limit starts with.
func (o *Options) Limit() int {
	if l := o.Shared(); l != nil {
		return l.Bound()
	}
	return o.Search(runtime.GOMAXPROCS(0)).Start()
}
