package process

import (
	"encoding/binary"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"time"
)

// A guard is a process that outlives this one for a moment: when its standard input ends, it
// kills the groups that were running. It hears of each start and end by a number on that
// pipe. The kernel kills our children when we die; the guard is for their children. It also
// stops the groups while this process is stopped, which can do nothing itself then.
type guard struct {
	w       *os.File
	process *os.Process
}

// startGuard starts the command of a guard. It is in a session of its own, so that what
// kills the group of this process does not kill it.
func startGuard(command []string, null *os.File) (*guard, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	starting.RLock()
	defer starting.RUnlock()
	child, err := os.StartProcess(command[0], command[1:], &os.ProcAttr{Files: []*os.File{r, null, null}, Sys: session()})
	if err != nil {
		w.Close()
		return nil, err
	}
	children.Store(child.Pid, nil)
	return &guard{w, child}, nil
}

// add and remove tell of the start and of the end of a group. An error means that the guard
// was killed: the kernel still ends our children.
func (g *guard) add(pid int)    { g.send(int32(pid)) }
func (g *guard) remove(pid int) { g.send(-int32(pid)) }

func (g *guard) send(n int32) {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], uint32(n))
	_, _ = g.w.Write(b[:]) // in one piece, as it is shorter than PIPE_BUF
}

// close ends the guard.
func (g *guard) close() {
	children.Delete(g.process.Pid)
	_ = g.process.Kill()
	_, _ = g.process.Wait()
	g.w.Close()
}

// watchInterval is the time between two reads of a guard, so that it wakes up for many
// messages at once.
const watchInterval = 20 * time.Millisecond

const (
	followInterval = 100 * time.Millisecond // between two looks whether the parent is stopped
	followLooks    = 10                     // in a row that find nothing more to stop, until it has gone on
)

// Watch is what the watcher of an Engine does: it reads r, its standard input, to the end,
// and kills the groups that are left, and what has the mark that New has added to its command.
// On Linux and macOS they are stopped while the parent of this process is.
func Watch(r io.Reader, mark string) {
	w := &watch{parent: os.Getppid(), mark: mark, running: make(map[int]bool), stopped: make(map[int]bool)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.read(r)
	}()
	tick := time.NewTicker(followInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.follow()
			continue
		case <-ended:
		}
		for pid := range w.running {
			killGroup(pid)
		}
		killMarked(mark, func() { time.Sleep(watchInterval) })
		return
	}
}

// A watch is what a guard knows.
type watch struct {
	parent  int
	mark    string
	stopped map[int]bool // groups, while the parent is stopped
	settled int          // looks in a row that found no other group

	mu      sync.Mutex
	running map[int]bool // groups
}

// read reads messages to the end.
func (w *watch) read(r io.Reader) {
	b := make([]byte, 64<<10)
	for n := 0; ; time.Sleep(watchInterval) {
		m, err := r.Read(b[n:])
		n += m
		whole := n - n%4
		w.mu.Lock()
		for i := 0; i < whole; i += 4 {
			switch pid := int(int32(binary.LittleEndian.Uint32(b[i:]))); {
			case pid > 1: // for kill(2), the group 1 is every process
				w.running[pid] = true
			case pid < 0:
				delete(w.running, -pid)
			}
		}
		w.mu.Unlock()
		n = copy(b, b[whole:n])
		if err != nil {
			return
		}
	}
}

// follow stops what runs if the parent is stopped, and lets it go on with the parent. A process
// that starts meanwhile is not told of, and has the mark only when it executes its program.
func (w *watch) follow() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if os.Getppid() != w.parent || !isStopped(w.parent) {
		for pid := range w.stopped {
			stopGroup(pid, false)
		}
		clear(w.stopped)
		w.settled = 0
		return
	}
	if w.settled == followLooks {
		return
	}
	before := len(w.stopped)
	found, _ := marked(w.mark)
	for _, pid := range slices.AppendSeq(found, maps.Keys(w.running)) {
		if !w.stopped[pid] {
			w.stopped[pid] = true
			stopGroup(pid, true)
		}
	}
	if w.settled++; len(w.stopped) > before {
		w.settled = 0
	}
}
