// Package limit bounds how many jobs run concurrently: processes, whose CPU time and memory
// the kernel counts.
//
// An adaptive limit is found by package stint, by throughput, within what the machine allows: as
// many jobs as keep the CPUs busy and fit into memory. That follows from what the jobs of the last
// moments have used. The number may be set while jobs run, by signals and by a file.
package limit

import (
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cmd/stint/internal/console"
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

// A Limit bounds how many jobs run concurrently. It must be made by New, and closed. Its
// methods may be called concurrently.
type Limit struct {
	limiter *stint.Limiter
	most    int           // jobs that descriptors allow
	steps   <-chan int    // adds to the number of jobs; nil: nothing does
	say     func(string)  // what the user must know
	stop    chan struct{} // ends watch
	wg      sync.WaitGroup

	waits sync.Once // it was said that a job waits for memory

	mu      sync.Mutex
	from    sensors
	running map[*process.Process]*sample
	demand  demand
	memory  memory
	culprit culprit
	system  system
	share   Share
	shared  int    // jobs that it has let run at once, at most
	jobs    int    // or adaptive, or paused; written by watch only
	by      string // what has set jobs
	file    file   // that sets jobs
	bound   int    // the largest limit that the machine or jobs allow; the only one if the number is fixed
	why     string // that bound
	bounds  [2]int // of limiter
	noted   int    // the limit that history ends with, or that there was at first
	history []stint.LimitChange
}

// New returns a limit of so many jobs. spare is how many bytes of memory are to stay free; 0 is a
// twentieth of the memory. A number that is larger than descriptors allow is lowered. What is
// received from steps is added to the number, which is fixed then; steps may be nil. say is called
// with what the user must know.
func New(jobs Jobs, spare int64, steps <-chan int, say func(string)) *Limit {
	l := &Limit{
		most: max(1, Files()/filesPerJob), steps: steps, say: say, stop: make(chan struct{}),
		running: make(map[*process.Process]*sample), file: jobs.file,
	}
	meter := machine.NewMeter()
	l.from = newSensors(meter)
	l.demand.cpus, l.culprit.counted = meter.CPUs(), meter.Kills()
	l.memory.spare = spare
	l.bounds = [2]int{1, l.mostAdaptive()}
	l.limiter = stint.Auto(l.bounds[0], l.bounds[1], stint.Burst(burst))
	l.bound = min(machine.Whole(l.demand.cpus), l.most)
	l.set(jobs.n, "")
	if jobs.n == adaptive {
		l.why = "as many jobs as CPUs, at first"
	}
	l.noted, l.history = l.limiter.Current(), nil
	l.wg.Go(l.watch)
	return l
}

// mostAdaptive returns the largest limit that is found.
func (l *Limit) mostAdaptive() int {
	return min(l.most, max(maxAdaptive, machine.Whole(l.demand.cpus)))
}

// Files returns how many descriptors are for jobs, and how many are for files with their output: half
// each of those that this process may have, but for some. So a job finds the descriptors that it needs
// to start, however much output waits.
func Files() int { return max(0, (maxFiles()-reservedFiles)/2) }

// Close ends the observation of jobs.
func (l *Limit) Close() {
	close(l.stop)
	l.wg.Wait()
}

// Limiter returns the limiter that each job holds a permit of, from its start to its end.
func (l *Limit) Limiter() *stint.Limiter { return l.limiter }

// Started tells of a job that has started.
func (l *Limit) Started(p *process.Process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running[p] = newSample(p.Started())
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
	if r.Signal == int(syscall.SIGKILL) {
		s.size.largest, s.size.most = 0, 0
		l.killed(time.Now(), &s.size)
	} else if s.size.largest > 0 {
		l.killed(time.Now(), nil)
	}
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
	running = l.uses()
	l.tooMany(running, systemReason)
	return running
}

// Overloaded tells that a job which was started then has ended, and says that too many run. An
// adaptive limit falls below what ran, and rises slowly. Jobs that were started before it fell last
// change nothing.
func (l *Limit) Overloaded(started time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if started.After(l.system.lowered) {
		l.tooMany(int(overloadShare*float64(l.uses()+1)), overloadReason)
	}
}

// tooMany lowers an adaptive limit. It is called with mu held.
func (l *Limit) tooMany(most int, reason string) {
	if l.jobs == adaptive {
		l.system.refused(most, reason, time.Now())
		l.setBound(min(l.system.most, l.bound), reason)
	}
}

// State is the state of a Limit.
type State struct {
	Limit   int                 `json:"limit"`
	Reason  string              `json:"reason,omitempty"`
	History []stint.LimitChange `json:"history,omitempty"`
}

// State returns the limit, the reason for it, and how it has changed.
func (l *Limit) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, reason, _ := l.found()
	return State{n, reason, append([]stint.LimitChange(nil), l.history...)}
}

// found returns the limit, the reason for it, and whether it is only tried. It is called with mu
// held.
func (l *Limit) found() (n int, reason string, tried bool) {
	switch n = l.limiter.Current(); {
	case l.share.InUse != nil:
		return l.tokens(), l.why, false
	case l.share.Running != nil && n == l.share.Running()+1:
		return max(1, l.shared), "as many as make has let run", true
	case l.jobs != adaptive || n == l.bound:
		return n, l.why, false
	}
	s := l.limiter.Stats()
	reason = l.why
	if last := len(s.History) - 1; last >= 0 && s.History[last].Throughput > 0 { // and not that bounds were set
		reason = s.Reason
	}
	return s.Limit, reason, s.Phase == "probing"
}

// setBound changes the largest limit, and the limiter accordingly. It is called with mu held.
func (l *Limit) setBound(n int, why string) {
	l.bound, l.why = n, why
	bounds := [2]int{n, n}
	switch l.jobs {
	case paused:
		bounds = [2]int{}
	case adaptive:
		bounds[0] = 1
	}
	if bounds = l.withShare(bounds); bounds != l.bounds {
		l.bounds = bounds
		l.limiter.SetBounds(bounds[0], bounds[1])
	}
	l.note()
}

// note appends a change of the limit to the history, unless it is only tried. It is called with mu
// held.
func (l *Limit) note() {
	n, reason, tried := l.found()
	if tried || n == l.noted {
		return
	}
	l.noted = n
	l.history = append(l.history, stint.LimitChange{Time: time.Now(), Limit: n, Reason: reason})
	l.history = l.history[max(0, len(l.history)-historyLength):]
}

// set sets the number of jobs. It is called by watch, or before it.
func (l *Limit) set(jobs int, by string) {
	l.mu.Lock()
	pauses := jobs == paused && l.jobs != paused
	l.jobs, l.by = jobs, by
	bound := l.bound
	if jobs > 0 {
		bound = min(jobs, l.most)
		if _, known := l.from.memory(); known && l.memory.spare > 0 { // a look raises it
			bound = min(bound, l.bound)
		}
	}
	l.setBound(bound, by)
	l.mu.Unlock()
	if !pauses {
		return
	}
	var how []string
	if l.steps != nil {
		how = append(how, "SIGUSR1")
	}
	if l.file.name != "" {
		how = append(how, "a number in "+console.Quote(l.file.name))
	}
	l.say("paused: running jobs finish, others start after " + strings.Join(how, " or "))
}

// step adds to the number of jobs that run.
func (l *Limit) step(n int) {
	if l.jobs == adaptive {
		n += l.State().Limit
	} else {
		n += max(0, l.jobs)
	}
	if n <= 0 {
		n = paused
	}
	l.set(n, "set by a signal")
}

// readFile sets the number of jobs to that in the file, if that has changed, or says once what is wrong.
func (l *Limit) readFile(now time.Time) {
	if l.file.name == "" || now.Sub(l.file.looked) < fileInterval {
		return
	}
	l.file.looked = now
	switch n, isNew, err := l.file.read(); {
	case !isNew:
	case err != nil:
		l.say("the number of jobs stays: --jobs " + err.Error())
	default:
		l.set(n, "set in "+console.Quote(l.file.name))
	}
}
