// Package process starts processes, each in a process group of its own, and waits for
// the group.
//
// # States
//
// A process is running until the kernel reports its exit. It is then over, unless other
// processes of its group live. Terminate asks the group to end.
//
//	state      since                       ends by
//	running    the start                   the exit of the process: over, lingering or ending
//	lingering  the exit, not asked to end  the end of the group; TERM after Grace, KILL after another
//	ending     the exit, asked before      the end of the group; Kill, and Grace after it
//	left       Kill, without permission    nothing: the process runs on and is not waited for
//	over       the end of the group
//
// So a shell that a TERM ends does not end the job while a program of its own shuts down:
// who has called Terminate decides how long that may take. And a "tee" that a shell does not
// wait for has a moment to write the rest.
//
// A process that has made a session of its own, as daemons do, has left the group. The first
// process gets signals wherever it is. Stopped processes are in the same states: one that is
// asked to end continues, to end.
//
// The number of a group is in use until its last process has ended, so a signal cannot
// reach a stranger while the group lives: that is checked each time, under the lock that
// guards the end. A process is reaped under a lock as well.
//
// After ReapOrphans all children of this process are reaped, also those that the package has not
// started: then no other package may start processes.
package process

import (
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Grace is how long the processes of a group have after a TERM before they are killed, how
// long they may outlive the first process of the group, and how long the kernel has to end
// them after a KILL.
const Grace = 500 * time.Millisecond

// stopInterval is the time between two looks for a process that is stopped. When this process has
// been stopped and goes on, the watcher continues the others a moment later: so a look at once
// does not count alone.
const stopInterval = 500 * time.Millisecond

// reservedThreads are more than the runtime needs while processes run.
const reservedThreads = 16

// A Command says what to start, and where its output goes.
type Command struct {
	Path string   // of the executable
	Args []string // with the name of the program first
	Env  []string
	Dir  string // the working directory; empty: that of this process
	Nice int    // added to the niceness

	Files []*os.File // further descriptors of the process, from 3 on

	Stdin          []byte    // is written to the standard input; nil: it is /dev/null
	Stdout, Stderr io.Writer // each is used by one goroutine at a time; nil: those of this process

	// Stopped is called once if the process has been stopped for a while, as one that reads
	// from the terminal, and must not block; nil: nothing is called.
	Stopped func(*Process)
}

// A Result is what is known of a process that has ended.
type Result struct {
	Exit    int           // the exit status; 0 if a signal ended the process, -1 if it is not known
	Signal  int           // the signal that ended the process, or 0
	Start   time.Time     // when it was started
	Elapsed time.Duration // from then until its exit
	CPU     time.Duration // that it used, and the processes that it waited for
	MaxRSS  int64         // bytes of memory, the most that one of these had; 0: not known, on Linux not more than this process had
	Left    bool          // processes of the group run on, though they were killed: with Exit -1 the first one, too
}

// A Process is a running Command. Its methods may be called concurrently.
type Process struct {
	pid     int
	started time.Time
	result  chan Result    // of the first process; has room for it
	tell    func(*Process) // that it is stopped; nil: nobody

	mu     sync.Mutex
	reaped bool      // its number may be that of another process, unless the group lives
	stops  int       // how often it was stopped, or has gone on
	ending bool      // it was asked to end before it was reaped
	killed time.Time // when the group was killed
	left   bool      // there is no permission to end it
	over   bool      // the group is gone, or not waited for any more
}

func newProcess(stopped func(*Process)) *Process {
	return &Process{started: time.Now(), result: make(chan Result, 1), tell: stopped}
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

// Ended reports whether the process has ended, and with it all of the group that has been
// asked to end.
func (p *Process) Ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over || p.reaped && !p.ending
}

// Terminate asks the processes of the group to end. Run then waits for all of them: Kill ends
// the wait.
func (p *Process) Terminate() {
	children.Lock()
	defer children.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ending = p.ending || !p.reaped
	p.signal(syscall.SIGTERM)
}

// Kill ends the processes of the group. Run does not wait for those that this process may not
// end, as they have another user.
func (p *Process) Kill() {
	if denied := p.kill(); denied {
		reap() // perhaps it has ended
		p.leave()
	}
}

func (p *Process) kill() (denied bool) {
	children.Lock()
	defer children.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed.IsZero() {
		p.killed = time.Now()
	}
	return p.signal(syscall.SIGKILL)
}

// signal is called with both mutexes held.
func (p *Process) signal(s syscall.Signal) (denied bool) {
	return !p.over && signalGroup(p.pid, s, !p.reaped)
}

// leave ends the wait for processes that this process may not end.
func (p *Process) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	p.left = true
	if !p.reaped {
		p.over = true
		p.result <- Result{Exit: -1}
	}
}

// end takes what is known of the first process, which was reaped. gone says that the group is.
func (p *Process) end(r Result, gone bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reaped = true
	if p.over { // as it is left
		return
	}
	p.over = gone
	p.result <- r
}

// await waits for the end of the first process.
func (p *Process) await() Result {
	r := <-p.result
	r.Start, r.Elapsed = p.started, time.Since(p.started)
	return r
}

// stop notes that the process is stopped, or goes on.
func (p *Process) stop(stopped bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stops++; stopped {
		p.look(p.stops, 2)
	}
}

// look tells after some looks, once, that the process is stopped, unless it has gone on since stop n.
func (p *Process) look(n, looks int) {
	time.AfterFunc(stopInterval, func() {
		p.mu.Lock()
		tell := p.tell
		switch {
		case tell == nil || p.stops != n || p.reaped:
			tell = func(*Process) {}
		case looks > 1:
			tell = func(*Process) { p.look(n, looks-1) }
		default:
			p.tell = nil
		}
		p.mu.Unlock()
		tell(p)
	})
}

// children are the processes that this package has started and not reaped. It is locked before
// a Process: while one is reaped, or gets a signal before that, which so reaches no stranger.
var children = struct {
	sync.Mutex
	running  map[int]*Process
	orphans  bool              // other children are reaped, too
	starting int               // how many are being started
	unknown  map[int]childNews // of other children meanwhile: perhaps one is being started
}{running: make(map[int]*Process), unknown: make(map[int]childNews)}

// An Engine starts processes. It must be made by New, and closed. Its methods may be
// called concurrently.
type Engine struct {
	guard *guard // nil: there is none
	mark  string // a variable of each process, by which the watcher finds those it was not told of
	null  *os.File
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
	e := &Engine{null: null}
	if len(watcher) > 0 {
		e.mark = newMark()
		e.guard, err = newGuard(append(slices.Clip(watcher), e.mark), null)
	}
	return e, err
}

// reserveThreads makes the runtime start threads, which it keeps. When the limit of processes
// is reached later, it could start none, and would abort this process.
func reserveThreads() {
	var held, wg sync.WaitGroup
	held.Add(reservedThreads)
	for range reservedThreads {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			held.Done()
			held.Wait()
		})
	}
	wg.Wait()
}

// Close ends the watcher. No process may be running.
func (e *Engine) Close() {
	if e.guard != nil {
		e.guard.close()
	}
	e.null.Close()
}

// Tell sends a message to the Keeper of the watcher.
func (e *Engine) Tell(message int) {
	if e.guard != nil {
		e.guard.tell(message)
	}
}

// Grants returns what the watcher writes to its standard output, to its end: nothing if there is
// none. Those that follow it write nothing.
func (e *Engine) Grants() io.Reader {
	if e.guard == nil || e.guard.grants == nil {
		return strings.NewReader("")
	}
	return e.guard.grants
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
	marked := *c
	if e.mark != "" {
		marked.Env = append(slices.Clip(c.Env), e.mark)
	}
	p := newProcess(c.Stopped)
	err = p.start(&marked, attributes(), append(s.childs, c.Files...))
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
	r := p.await()
	r.Left = p.awaitGroup()
	if e.guard != nil {
		e.guard.remove(p.pid)
	}
	s.drain()
	return r, nil
}

// awaitGroup waits for the end of the group, and reports whether it is left. It ends a group that
// was not asked to end. It looks less and less often: nothing tells of the end of a process that
// is not a child.
func (p *Process) awaitGroup() (left bool) {
	began, asked, member := time.Now(), false, 0
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		p.mu.Lock()
		kill := false
		switch waited := time.Since(began); {
		case p.over:
		case !groupLives(p.pid, &member):
			p.over, p.left = true, false
		case p.left, !p.killed.IsZero() && min(waited, time.Since(p.killed)) > Grace:
			p.over, p.left = true, true
		case p.ending:
		case waited > 2*Grace:
			kill = true
		case waited > Grace && !asked:
			asked = true
			p.signal(syscall.SIGTERM)
		}
		over, left := p.over, p.left
		p.mu.Unlock()
		if over {
			return left
		}
		if kill {
			p.Kill()
		}
		time.Sleep(pause)
	}
}
