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
	most   int // the largest limit; 0: the usual one
	cpu    func() (time.Duration, bool)

	elsewhere bool // what computes is not this process
}

// Unless an option says otherwise.
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

// Budget sets how long Run may take, about; calls of f that have begun then are
// waited for. The default is 5 s. It panics if d is not more than 0.
func Budget(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("advise: Budget(%v): want more than 0", d))
	}
	return func(o *options) { o.budget = d }
}

// Most sets how many calls of f may run at once, in all that is measured: for a
// server that must not be asked more. The limit that finds itself is then that of
// stint.Auto(1, n). The default is 256. It panics if n is less than 2.
func Most(n int) Option {
	if n < 2 {
		panic(fmt.Sprintf("advise: Most(%d): want 2 or more", n))
	}
	return func(o *options) { o.most = n }
}

// CPU sets where the processor time is read that has been used so far, or false if
// it is not known. The default is that of this process, which is not known on systems
// that are not Unix. It is for a function whose work is done elsewhere: by processes
// that it starts. Package par is not for such a function, and is not measured. It panics if used is nil.
func CPU(used func() (time.Duration, bool)) Option {
	if used == nil {
		panic("advise: CPU: nil function")
	}
	return func(o *options) { o.cpu, o.elsewhere = used, true }
}
