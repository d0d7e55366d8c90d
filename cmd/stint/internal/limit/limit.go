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
	"syscall"
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

	say sync.Once // that a job waits for memory

	mu      sync.Mutex
	from    sensors
	running map[*process.Process]*sample
	demand  demand
	memory  memory
	culprit culprit
	system  system
	reason  string // why the gate has its limit
	history []stint.LimitChange
}

// New returns a limit of n jobs, or an adaptive one if n is 0. spare is how many bytes of
// memory are to stay free; 0 is a twentieth of the memory. A limit that is larger than
// descriptors allow is lowered.
func New(n int, spare int64) *Limit {
	l := &Limit{most: max(1, Files()/filesPerJob), stop: make(chan struct{}), running: make(map[*process.Process]*sample)}
	meter := machine.NewMeter()
	l.from = newSensors(meter)
	l.demand.cpus, l.culprit.counted = meter.CPUs(), meter.Kills()
	l.memory.spare = spare
	first := machine.Whole(l.demand.cpus)
	if n > 0 {
		l.most = min(n, l.most)
		if _, ok := meter.Memory(); !ok || spare == 0 {
			first = l.most
		}
	} else {
		l.most = min(l.most, max(maxAdaptive, first))
		l.search = stint.Auto(1, l.most, stint.Burst(burst), stint.Overload(func(err error) bool { return errors.Is(err, ErrOverload) }))
		l.reason = "as many jobs as CPUs, at first"
	}
	l.gate = stint.Limit(min(first, l.most))
	l.wg.Go(func() {
		defer meter.Close()
		l.watch()
	})
	return l
}

// Close ends the observation of jobs.
func (l *Limit) Close() {
	close(l.stop)
	l.wg.Wait()
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
	l.running[p] = newSample(p.Started())
}

// Paused tells that all jobs were stopped for so long, with this process, and continue.
func (l *Limit) Paused(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.running {
		s.at = s.at.Add(d)
		s.size.paused(d)
	}
}

// Finished tells of a job that has ended. It reports whether the kernel has killed a process of
// the job for want of memory, as far as that can be known.
func (l *Limit) Finished(p *process.Process, r process.Result) (killed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.running[p]
	if s == nil {
		return false
	}
	now := time.Now()
	l.culprit.count(l.from.kills(), now)
	switch {
	case r.Signal == int(syscall.SIGKILL) && l.culprit.open > 0:
		s.size.killed = true
		l.culprit.open--
	case s.size.largest == p.Pid(): // it has ended otherwise
		s.size.largest = 0
	}
	l.killed(now)
	l.demand.finished(s, r)
	l.memory.finished(max(float64(r.MaxRSS), s.size.bytes))
	delete(l.running, p)
	return s.size.killed
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
