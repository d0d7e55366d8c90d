package process

import (
	"encoding/binary"
	"io"
	"os"
	"time"
)

// A guard is a process that outlives this one for a moment: when its standard input ends, it
// kills the groups that were running. It hears of each start and end by a number on that
// pipe. The kernel kills our children when we die; the guard is for their children.
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
	child, err := os.StartProcess(command[0], command[1:], &os.ProcAttr{Files: []*os.File{r, null, null}, Sys: session()})
	if err != nil {
		w.Close()
		return nil, err
	}
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
	_ = g.process.Kill()
	_, _ = g.process.Wait()
	g.w.Close()
}

// watchInterval is the time between two reads of a guard, so that it wakes up for many
// messages at once.
const watchInterval = 20 * time.Millisecond

// Watch is what the watcher of an Engine does: it reads r, its standard input, to the end,
// and kills the groups that are left, and what has the mark that New has added to its command.
func Watch(r io.Reader, mark string) {
	for pid := range left(r) {
		killGroup(int(pid))
	}
	killMarked(mark, func() { time.Sleep(watchInterval) })
}

// left reads messages to the end, and returns the groups that have not ended.
func left(r io.Reader) map[int32]bool {
	running := make(map[int32]bool)
	b := make([]byte, 64<<10)
	for n := 0; ; time.Sleep(watchInterval) {
		m, err := r.Read(b[n:])
		n += m
		whole := n - n%4
		for i := 0; i < whole; i += 4 {
			switch pid := int32(binary.LittleEndian.Uint32(b[i:])); {
			case pid > 1: // for kill(2), the group 1 is every process
				running[pid] = true
			case pid < 0:
				delete(running, -pid)
			}
		}
		n = copy(b, b[whole:n])
		if err != nil {
			return running
		}
	}
}
