// Package limit bounds how many jobs run concurrently: processes, whose CPU time and memory
// the kernel counts.
//
// An adaptive limit is the lower of two. One is what the machine allows: as many jobs as keep
// the CPUs busy and fit into memory. It follows from what the jobs of the last moments have
// used. The other is found by package stint, by throughput; the search measures only while its
// limit is the lower one.
package limit

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cmd/stint/internal/machine"
	"github.com/stint-go/stint/cmd/stint/internal/process"
)

const (
	maxAdaptive   = 256 // jobs, unless the machine has more CPUs
	burst         = 192 // of the search: a third of it starts at once, if the machine allows it
	filesPerJob   = 6   // descriptors, while it starts
	reservedFiles = 24  // descriptors of this process
	historyLength = 64
)

// ErrOverload is the error of a job that says that too many run.
var ErrOverload = errors.New("too many jobs run concurrently")

// A Limit bounds how many jobs run concurrently. It must be made by New, and closed. Its
// methods may be called concurrently.
type Limit struct {
	gate   *stint.Limiter // what the machine allows, or the fixed number
	search *stint.Limiter // by throughput; nil if the number is fixed
	most   int            // the largest limit: the fixed one, and what descriptors allow
	stop   chan struct{}  // ends watch
	wg     sync.WaitGroup

	meterMu sync.Mutex // guards the two fields below; jobs wait for memory one after the other
	meter   *machine.Meter
	said    bool // that a job waits

	mu      sync.Mutex
	running map[*process.Process]*sample
	demand  demand
	memory  memory
	system  system
	reason  string // why the gate has its limit
	history []stint.LimitChange
}

// New returns a limit of n jobs, or an adaptive one if n is 0. spare is how many bytes of
// memory are to stay free; 0 is a twentieth of the memory. A limit that is larger than
// descriptors allow is lowered.
func New(n int, spare int64) *Limit {
	l := &Limit{most: max(1, (maxFiles()-reservedFiles)/filesPerJob), stop: make(chan struct{}), running: make(map[*process.Process]*sample)}
	l.demand.cpus = float64(machine.CPUs())
	l.memory.spare = spare
	if n > 0 {
		l.most = min(n, l.most)
		l.gate = stint.Limit(l.most)
		if spare > 0 {
			l.wg.Go(l.watch)
		}
		return l
	}
	l.most = min(l.most, max(maxAdaptive, machine.CPUs()))
	l.gate = stint.Limit(min(machine.CPUs(), l.most))
	l.search = stint.Auto(1, l.most, stint.Burst(burst), stint.Overload(func(err error) bool { return errors.Is(err, ErrOverload) }))
	l.reason = "as many jobs as CPUs, at first"
	l.wg.Go(l.watch)
	return l
}

// Close ends the observation of jobs.
func (l *Limit) Close() {
	close(l.stop)
	l.wg.Wait()
	if l.meter != nil {
		l.meter.Close()
	}
}

// Limiter returns the limiter that each job holds a permit of.
func (l *Limit) Limiter() *stint.Limiter { return l.gate }

// Run calls f, which runs a job. It is called with a permit of Limiter, and waits for one of
// the search. If f returns ErrOverload, or an error that wraps it, the limit backs off.
func (l *Limit) Run(ctx context.Context, f func(context.Context) error) error {
	if l.search == nil {
		return f(ctx)
	}
	return l.search.Do(ctx, f)
}

// Started tells of a job that has started.
func (l *Limit) Started(p *process.Process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running[p] = &sample{at: p.Started()}
}

// Paused tells that all jobs were stopped for so long, and continue.
func (l *Limit) Paused(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.running {
		s.at = s.at.Add(d)
	}
}

// Finished tells of a job that has ended.
func (l *Limit) Finished(p *process.Process, r process.Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.demand.finished(l.running[p], r)
	l.memory.finished(float64(r.MaxRSS))
	delete(l.running, p)
}

// Exhausted tells that the system did not start one more job, and returns how many run. No
// more than those run concurrently at first; then an adaptive limit rises slowly.
func (l *Limit) Exhausted() (running int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	running = len(l.running)
	if l.search != nil {
		l.system.refused(running, time.Now())
		l.set(min(l.system.most, l.gate.Current()), systemReason)
	}
	return running
}

// State is the state of a Limit.
type State struct {
	Limit   int                 `json:"limit"`
	Reason  string              `json:"reason,omitempty"`
	History []stint.LimitChange `json:"history,omitempty"`
}

// State returns the limit, the reason for it, and how it has changed: the lower one of the two,
// and the changes of both.
func (l *Limit) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := State{l.gate.Current(), l.reason, append([]stint.LimitChange(nil), l.history...)}
	if l.search == nil {
		return s
	}
	found := l.search.Stats()
	if found.Limit < s.Limit {
		s.Limit, s.Reason = found.Limit, cmp.Or(found.Reason, s.Reason)
	}
	s.History = append(s.History, found.History...)
	slices.SortStableFunc(s.History, func(a, b stint.LimitChange) int { return a.Time.Compare(b.Time) })
	return s
}

// set changes what the machine allows. It is called with mu held.
func (l *Limit) set(n int, reason string) {
	l.reason = reason
	if n == l.gate.Current() {
		return
	}
	l.gate.Set(n)
	l.history = append(l.history, stint.LimitChange{Time: time.Now(), Limit: n, Reason: reason})
	l.history = l.history[max(0, len(l.history)-historyLength):]
}
