// Package process starts processes, each in a process group of its own, and waits for
// the group.
//
// # States
//
// A process is running until the kernel reports its exit. It is then over, unless other
// processes of its group live: the group lingers. A lingering group has half a second to
// end by itself, as a "tee" that a shell does not wait for does, and is then terminated.
// A process that has made a session of its own, as daemons do, has left the group.
//
// The number of a group is in use until its last process has ended, so a signal cannot
// reach a stranger while the group lives: that is checked each time, under the lock that
// guards the end. Where the system tells of an exit before the process is reaped, as Linux
// does, it is reaped under that lock as well.
package process

import (
	"io"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Grace is how long the processes of a group have after a TERM before they are killed, and
// how long they may outlive the first process of the group.
const Grace = 500 * time.Millisecond

// A Command says what to start, and where its output goes.
type Command struct {
	Path string   // of the executable
	Args []string // with the name of the program first
	Env  []string
	Dir  string // the working directory; empty: that of this process
	Nice int    // added to the niceness

	Stdin          []byte    // is written to the standard input; nil: it is /dev/null
	Stdout, Stderr io.Writer // each is used by one goroutine at a time; nil: those of this process
}

// A Result is what is known of a process that has ended.
type Result struct {
	Exit    int           // the exit status; 0 if a signal ended the process, -1 if it is not known
	Signal  int           // the signal that ended the process, or 0
	Start   time.Time     // when it was started
	Elapsed time.Duration // from then until its exit
	CPU     time.Duration // that it used, and the processes that it waited for
	MaxRSS  int64         // bytes of memory, the most that one of these had; 0: not known, on Linux not more than this process had
}

// A Process is a running Command. Its methods may be called concurrently.
type Process struct {
	pid     int
	started time.Time

	mu     sync.Mutex
	reaped bool // its number may be that of another process, unless the group lives
	over   bool // the group is gone
}

// Pid returns the number of the process, which is that of its group.
func (p *Process) Pid() int { return p.pid }

// Started returns when the process was started.
func (p *Process) Started() time.Time { return p.started }

// Reaped reports whether the process has ended and was waited for. What is read about its
// number after that may be about another process.
func (p *Process) Reaped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reaped
}

// Terminate asks the processes of the group to end.
func (p *Process) Terminate() { p.signal(syscall.SIGTERM) }

// Kill ends the processes of the group.
func (p *Process) Kill() { p.signal(syscall.SIGKILL) }

func (p *Process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		signalGroup(p.pid, s)
	}
}

// An Engine starts processes. It must be made by New, and closed. Its methods may be
// called concurrently.
type Engine struct {
	guard *guard // nil: there is none
	mark  string // a variable of each process, by which the watcher finds those it was not told of
	null  *os.File

	starting sync.RWMutex // held for reading from a start until the process is in running

	mu      sync.Mutex
	running map[*Process]bool
	stopped bool
}

// New returns an Engine. watcher is a command that calls Watch with its last argument, which
// New adds: it is started at once, and kills what runs when this process dies. If watcher is
// empty there is none, and if it cannot be started, New returns an Engine without one, and an
// error that says so.
func New(watcher []string) (*Engine, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	reserveThreads()
	e := &Engine{null: null, running: make(map[*Process]bool)}
	if len(watcher) > 0 {
		e.mark = newMark()
		e.guard, err = startGuard(append(slices.Clip(watcher), e.mark), null)
	}
	return e, err
}

// Close ends the watcher. No process may be running.
func (e *Engine) Close() {
	if e.guard != nil {
		e.guard.close()
	}
	e.null.Close()
}

// Run starts c, calls started, and returns when the process has ended, its group is gone
// and its output has been written. started must not block. The error is that of the start:
// then nothing ran; it is fs.ErrNotExist if the program was not found. After an error of
// Stdout or Stderr that stream is closed, so that the process gets a SIGPIPE when it writes
// more.
func (e *Engine) Run(c *Command, started func(*Process)) (Result, error) {
	s, err := e.open(c)
	if err != nil {
		return Result{}, err
	}
	p := &Process{started: time.Now()}
	wait, err := e.start(p, c, s)
	s.closeChilds()
	if err != nil {
		s.close()
		return Result{}, err
	}
	if e.guard != nil {
		e.guard.add(p.pid)
	}
	started(p)
	s.copy()
	r := wait()
	r.Start, r.Elapsed = p.started, time.Since(p.started)
	p.end()
	e.remove(p)
	if e.guard != nil {
		e.guard.remove(p.pid)
	}
	s.drain()
	return r, nil
}

// start starts p, and stops it if the others are stopped.
func (e *Engine) start(p *Process, c *Command, s *streams) (wait func() Result, err error) {
	e.starting.RLock()
	defer e.starting.RUnlock()
	if wait, err = p.start(c, e.mark, s.childs); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running[p] = true; e.stopped {
		p.stop()
	}
	return wait, nil
}

func (e *Engine) remove(p *Process) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.running, p)
}

// Stop stops the processes that run, and those that start until Continue is called. One that is
// terminated or killed continues, to end.
func (e *Engine) Stop() { e.setStopped(true, (*Process).stop) }

// Continue lets stopped processes go on.
func (e *Engine) Continue() { e.setStopped(false, (*Process).resume) }

func (e *Engine) setStopped(stopped bool, do func(*Process)) {
	e.starting.Lock()
	defer e.starting.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stopped = stopped
	for p := range e.running {
		do(p)
	}
}

// end waits until the group is gone. It terminates a group that lingers, and then kills it.
func (p *Process) end() {
	gone := p.awaitGroup()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if gone {
			break
		}
		p.signal(s)
		gone = p.awaitGroup()
	}
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
}

// awaitGroup waits until the group is gone, for Grace at most, and reports whether it is.
// It looks less and less often: nothing tells of the end of a process that is not a child.
// Zombies cost a look at all processes: it looks for them at the first, second, fourth, ... time.
func (p *Process) awaitGroup() bool {
	end := time.Now().Add(Grace)
	pause := time.Millisecond
	for n := 1; ; n++ {
		p.mu.Lock()
		p.over = p.over || !groupLives(p.pid, n&(n-1) == 0)
		over := p.over
		p.mu.Unlock()
		if over || time.Now().After(end) {
			return over
		}
		time.Sleep(pause)
		pause = min(2*pause, 20*time.Millisecond)
	}
}
