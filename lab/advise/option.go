package advise

import (
	"fmt"
	"time"

	"github.com/stint-go/stint/lab/measure"
)

// An Option changes how Run measures.
type Option func(*options)

type options struct {
	budget time.Duration
	most   int // largest limit; 0: the default
	cpu    func() (time.Duration, bool)

	elsewhere bool // the work is done by other processes
}

// Defaults.
const (
	usualBudget = 5 * time.Second
	usualMost   = 256
)

func collect(opts []Option) options {
	o := options{budget: usualBudget, cpu: measure.OwnCPU}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// Budget sets the approximate duration of Run, which also waits for running
// calls of f. The default is 5 s. It panics unless d is positive.
func Budget(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("advise: Budget(%v): want more than 0", d))
	}
	return func(o *options) { o.budget = d }
}

// Most sets the largest number of concurrent calls of f, for example for a
// server with a quota. The adaptive limit is then stint.Auto(1, n). The default
// is 256. It panics if n is less than 2.
func Most(n int) Option {
	if n < 2 {
		panic(fmt.Sprintf("advise: Most(%d): want 2 or more", n))
	}
	return func(o *options) { o.most = n }
}

// CPU sets the function that returns the CPU time used so far, or false if it
// is not known. The default is this process's CPU time, which is known on Unix
// only. It is for functions whose work is done by other processes; par.Range is
// then not measured. It panics if used is nil.
func CPU(used func() (time.Duration, bool)) Option {
	if used == nil {
		panic("advise: CPU: nil function")
	}
	return func(o *options) { o.cpu, o.elsewhere = used, true }
}
