package process

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

// A guard has a process, the watcher, that outlives this one for a moment: when its standard
// input ends, it kills the groups that were running. It hears of each start and end by a line
// on that pipe. The kernel kills our children when we die; the watcher is for their children.
// It also stops the groups while this process is stopped, which can do nothing itself then.
// A watcher that ends is replaced. It may have a keeper, of what must not be lost with this process.
type guard struct {
	command []string
	null    *os.File

	mu      sync.Mutex
	running map[int]bool // groups
	w       *os.File     // nil: there is no watcher
	grants  *os.File     // what the keeper of the first watcher writes; nil: there was none
	watcher *Process
	spares  int            // watchers that may follow
	wg      sync.WaitGroup // of replace
}

// maxSpares bounds how often a watcher is replaced: perhaps each one ends at once.
const maxSpares = 10

func newGuard(command []string, null *os.File) (*guard, error) {
	g := &guard{command: command, null: null, running: make(map[int]bool), spares: maxSpares}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g, g.start()
}

// start starts a watcher. It is in a session of its own, so that what kills the group of this
// process does not kill it. start is called with mu held.
func (g *guard) start() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	out := g.null
	if g.grants == nil {
		if g.grants, out, err = os.Pipe(); err != nil {
			w.Close()
			return err
		}
		defer out.Close()
	}
	p := newProcess(nil)
	c := &Command{Path: g.command[0], Args: g.command[1:], Env: os.Environ()}
	if err := p.start(c, session(), []*os.File{r, out, g.null}); err != nil {
		w.Close()
		return err
	}
	g.w, g.watcher = w, p
	for pid := range g.running {
		g.send('+', pid)
	}
	g.wg.Go(func() { g.replace(p) })
	return nil
}

// replace starts another watcher when p has ended, unless close has ended it.
func (g *guard) replace(p *Process) {
	p.await()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.watcher != p {
		return
	}
	g.w.Close()
	g.w, g.watcher = nil, nil
	if g.spares--; g.spares > 0 {
		_ = g.start()
	}
}

// add and remove tell of the start and of the end of a group.
func (g *guard) add(pid int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running[pid] = true
	g.send('+', pid)
}

func (g *guard) remove(pid int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.running, pid)
	g.send('-', pid)
}

// tell sends a message to the keeper, which the first watcher has.
func (g *guard) tell(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.spares == maxSpares {
		g.send('=', n)
	}
}

// send sends a message: what it is about, and a number. An error means that the watcher has
// ended: the next one is told of all groups.
func (g *guard) send(what byte, n int) {
	if g.w != nil {
		_, _ = fmt.Fprintf(g.w, "%c%d\n", what, n) // in one piece, as it is shorter than PIPE_BUF
	}
}

// close ends the watcher.
func (g *guard) close() {
	g.mu.Lock()
	p, w := g.watcher, g.w
	g.w, g.watcher = nil, nil
	g.mu.Unlock()
	if p != nil {
		p.Kill()
		w.Close()
	}
	g.wg.Wait()
	if g.grants != nil {
		g.grants.Close()
	}
}

const (
	watchInterval  = 20 * time.Millisecond  // between two reads of a watcher, so that it wakes up for many messages at once
	followInterval = 100 * time.Millisecond // between two looks whether the parent is stopped, of which nothing tells
	followLooks    = 10                     // for groups that were not told of, while the parent is stopped
	markPause      = 50 * time.Millisecond  // between two looks for such groups after its end
	markLooks      = 20                     // they may start others meanwhile, and one that executes a program has no variables for a moment
)

// A Keeper is told of messages that are for it. It is closed when nothing runs any more.
type Keeper interface {
	Tell(message int)
	Close()
}

// Watch is what the watcher of an Engine does: it reads r, its standard input, to the end,
// and kills the groups that are left, and what has the mark that New has added to its command.
// On Linux and macOS they are stopped while the parent of this process is. keeper is nil, or gets
// what Tell of the Engine sends, at once, and in order with the ends of groups.
func Watch(r io.Reader, mark string, keeper Keeper) {
	w := &watch{parent: os.Getppid(), mark: mark, keeper: keeper, running: make(map[int]bool), stopped: make(map[int]bool)}
	messages := make(chan string, 1024) // many at a time
	go func() {
		defer close(messages)
		if keeper == nil {
			r = pausing{r}
		}
		b := bufio.NewReaderSize(r, 64<<10)
		for {
			line, err := b.ReadString('\n')
			if err != nil {
				return
			}
			messages <- line[:len(line)-1]
		}
	}()
	tick := time.NewTicker(followInterval)
	defer tick.Stop()
	for {
		select {
		case m, ok := <-messages:
			if !ok {
				for pid := range w.running {
					killGroup(pid)
				}
				killMarked(mark, func() {
					w.close() // after the first look
					time.Sleep(markPause)
				})
				w.close()
				return
			}
			w.take(m)
		case <-tick.C:
			w.follow()
		}
	}
}

// killMarked kills the groups with the mark, and looks again after each pause.
func killMarked(mark string, pause func()) {
	for n := 0; mark != "" && n < markLooks; n++ {
		for _, pid := range marked(mark) {
			killGroup(pid)
		}
		pause()
	}
}

// pausing reads after a pause.
type pausing struct{ io.Reader }

func (r pausing) Read(b []byte) (int, error) {
	time.Sleep(watchInterval)
	return r.Reader.Read(b)
}

// A watch is what a watcher knows.
type watch struct {
	parent  int
	mark    string
	keeper  Keeper
	running map[int]bool // groups
	stopped map[int]bool // groups, while the parent is stopped
	looks   int          // since then
}

// take takes a message. For kill(2), the group 1 is every process.
func (w *watch) take(m string) {
	pid, err := strconv.ParseInt(m[min(1, len(m)):], 10, 32)
	switch {
	case err == nil && m[0] == '=' && w.keeper != nil:
		w.keeper.Tell(int(pid))
	case err != nil || pid <= 1:
	case m[0] == '+':
		w.running[int(pid)] = true
	case m[0] == '-':
		delete(w.running, int(pid))
	}
}

// close closes the keeper, once.
func (w *watch) close() {
	if w.keeper != nil {
		w.keeper.Close()
		w.keeper = nil
	}
}

// follow stops what runs if the parent is stopped, and lets it go on with the parent.
func (w *watch) follow() {
	if os.Getppid() != w.parent || !isStopped(w.parent) {
		for pid := range w.stopped {
			stopGroup(pid, false)
		}
		clear(w.stopped)
		w.looks = 0
		return
	}
	all := slices.Collect(maps.Keys(w.running))
	if w.looks++; w.looks <= followLooks {
		all = append(all, marked(w.mark)...)
	}
	for _, pid := range all {
		if !w.stopped[pid] {
			w.stopped[pid] = true
			stopGroup(pid, true)
		}
	}
}
