// Package machine tells what the machine has for child processes, and what they use.
package machine

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path"
	"runtime"
	"slices"
)

// Memory is what a machine or a cgroup has for new processes.
type Memory struct {
	Available int64  // bytes that can be used without swapping; 0 if there are none
	Total     int64  // bytes of the machine, or the limit of the cgroup
	Bound     string // whose figures these are, for messages: "memory" or "memory of the cgroup"
}

// Meter reads how much memory and how many CPUs there are. It keeps files open, so that a reading
// takes a few microseconds and no allocation. It is for one goroutine.
type Meter struct {
	meminfo                *os.File
	version                int // of the cgroups that limit memory
	max, high, usage, stat []*os.File
	kills                  *os.File
	cpuMax, cpuPeriod      []*os.File
	buf                    [8192]byte
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
	text, _ := os.ReadFile(path.Join(root, "proc/self/cgroup"))
	memory, cpu := hierarchyOf(root, string(text), "memory"), hierarchyOf(root, string(text), "cpu")
	m := &Meter{
		meminfo: openFile(path.Join(root, "proc/meminfo")),
		version: memory.version,
		max:     memory.open("memory.limit_in_bytes", "memory.max"),
		high:    memory.open("", "memory.high"),
		usage:   memory.open("memory.usage_in_bytes", "memory.current"),
		stat:    memory.open("memory.stat", "memory.stat"),
		cpuMax:  cpu.open("cpu.cfs_quota_us", "cpu.max"), cpuPeriod: cpu.open("cpu.cfs_period_us", ""),
	}
	for _, f := range memory.open("memory.oom_control", "memory.events") {
		if m.kills == nil {
			m.kills = f
		} else {
			_ = closeFile(f)
		}
	}
	return m
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
	for i := range m.max {
		if g, ok := m.group(i); ok && g.Available < mem.Available {
			mem = g
		}
	}
	return mem, true
}

// Kills returns how many processes the kernel has killed for want of memory in the cgroup of this
// process; 0 if it does not say.
func (m *Meter) Kills() int64 {
	n, _ := field(m.read(m.kills), "oom_kill")
	return n
}

// CPUs returns how many CPUs the jobs of this process can keep busy: the least of GOMAXPROCS, of
// the CPUs that the process may run on, and of the quotas of its cgroups, which may be a part of a
// CPU. It may change while the process runs.
//
// GOMAXPROCS counts since it is how a user tells Go programs what their share is, and jobs that are
// Go programs obey it as well.
func (m *Meter) CPUs() float64 {
	return min(float64(runtime.GOMAXPROCS(0)), float64(affinity()), m.quota())
}

// CPUs returns how many CPUs a new Meter counts, rounded up.
func CPUs() int {
	m := NewMeter()
	defer m.Close()
	return Whole(m.CPUs())
}

// Whole returns a number of CPUs, rounded up.
func Whole(cpus float64) int { return int(math.Ceil(cpus)) }

// Close closes the files.
func (m *Meter) Close() error {
	var err error
	for _, f := range slices.Concat(m.max, m.high, m.usage, m.stat, m.cpuMax, m.cpuPeriod, []*os.File{m.meminfo, m.kills}) {
		err = errors.Join(err, closeFile(f))
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
