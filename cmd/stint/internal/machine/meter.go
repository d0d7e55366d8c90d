package machine

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path"
	"runtime"
)

// Meter reads how much memory is available. It keeps files open, so that a reading takes a few
// microseconds and no allocation. It is for one goroutine.
type Meter struct {
	meminfo *os.File
	groups  []group // that of the process, and those above it
	buf     [8192]byte
}

// NewMeter returns a meter for this process and the cgroups that it is in now. Close it after
// use.
func NewMeter() *Meter {
	if runtime.GOOS != "linux" {
		return new(Meter)
	}
	return newMeter("/")
}

func newMeter(root string) *Meter {
	lines, _ := os.ReadFile(path.Join(root, "proc/self/cgroup"))
	return &Meter{
		meminfo: openFile(path.Join(root, "proc/meminfo")),
		groups:  openGroups(root, string(lines)),
	}
}

// Memory returns the memory that is available to new processes of this one: what the machine
// has, or less if a cgroup has less below its limit. It is not ok where the system does not
// say; now that is everywhere but on Linux.
func (m *Meter) Memory() (mem Memory, ok bool) {
	text := m.read(m.meminfo)
	available, ok := field(text, "MemAvailable:")
	if !ok {
		return Memory{}, false
	}
	total, _ := field(text, "MemTotal:")
	mem = Memory{available << 10, total << 10, "memory"} // in KiB, though it says kB
	for i := range m.groups {
		if g, ok := m.group(&m.groups[i]); ok && g.Available < mem.Available {
			mem = g
		}
	}
	return mem, true
}

// Close closes the files.
func (m *Meter) Close() error {
	err := closeFile(m.meminfo)
	for _, g := range m.groups {
		err = errors.Join(err, closeFile(g.max), closeFile(g.high), closeFile(g.usage), closeFile(g.stat))
	}
	return err
}

// read returns what a file has now, nothing if there is none. Files of proc and of cgroups are
// written anew when they are read from the start. The result is good until the next read.
func (m *Meter) read(f *os.File) []byte {
	n, _ := f.ReadAt(m.buf[:], 0)
	return m.buf[:n]
}

// openFile returns the open file, or nil.
func openFile(name string) *os.File {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	return f
}

func closeFile(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

// field returns the number after a name that a line begins with.
func field(text []byte, name string) (int64, bool) {
	for line := range bytes.Lines(text) {
		if first, rest, _ := bytes.Cut(line, []byte(" ")); string(first) == name {
			value, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
			return number(value)
		}
	}
	return 0, false
}

// number returns the number that is all of text but space around it. For "max", strconv would
// allocate an error each time.
func number(text []byte) (n int64, ok bool) {
	text = bytes.TrimSpace(text)
	for _, c := range text {
		if c < '0' || c > '9' || n > (math.MaxInt64-9)/10 {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, len(text) > 0
}
