// Package machine tells what the machine has for child processes, and what they use.
package machine

import (
	"bytes"
	"math"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
)

// Memory is what a machine or a cgroup has for new processes.
type Memory struct {
	Available int64  // bytes that can be used without swapping; 0 if there are none
	Total     int64  // bytes of the machine, or the limit of the cgroup
	Bound     string // whose figures these are, for messages: "memory" or "memory of the cgroup"
}

// Meter reads how much memory and how many CPUs there are. Its methods may be called concurrently.
type Meter struct {
	root        string
	memory, cpu []string // directories of the cgroups that limit these: that of the process first
	version              // of the cgroups that limit memory
}

// A version of cgroups has names for what limits memory. What counts as cache is what MemAvailable
// counts: active_file too, which is where the kernel has the pages that were read twice. To leave it
// out would keep jobs from starting after the first of them have read many files. Memory that is
// shared is not in these lists.
type version struct {
	limits, cache []string // files, the least of which counts, and fields of memory.stat
	usage, kills  string   // files
}

var (
	version1 = version{[]string{"memory.limit_in_bytes"}, []string{"total_inactive_file", "total_active_file"}, "memory.usage_in_bytes", "memory.oom_control"}
	version2 = version{[]string{"memory.max", "memory.high"}, []string{"inactive_file", "active_file", "slab_reclaimable"}, "memory.current", "memory.events"}
)

// NewMeter returns a meter for this process and the cgroups that it is in now.
func NewMeter() *Meter { return newMeter("/") }

func newMeter(root string) *Meter {
	m := &Meter{root: root, version: version2}
	for line := range strings.Lines(string(m.read("proc/self/cgroup"))) {
		field := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		switch {
		case len(field) != 3:
		case strings.Contains(","+field[1]+",", ",memory,"): // it is not in version 2 then
			m.memory, m.version = groups("sys/fs/cgroup/memory", field[2]), version1
		case field[0] == "0" && field[1] == "":
			if m.cpu = groups("sys/fs/cgroup", field[2]); m.memory == nil {
				m.memory = m.cpu
			}
		}
	}
	return m
}

// groups returns the directories of a cgroup and of those above it. In a container, dir may be that
// outside, where it is not to be seen; then those above lead to the one that is mounted as the root.
func groups(mount, dir string) (dirs []string) {
	for dir = path.Join("/", dir); ; dir = path.Dir(dir) {
		if dirs = append(dirs, path.Join(mount, dir)); dir == "/" {
			return dirs
		}
	}
}

// read returns what a file has now, nothing if there is none. Limits are read each time, as an
// administrator may change them.
func (m *Meter) read(name ...string) []byte {
	text, _ := os.ReadFile(path.Join(m.root, path.Join(name...)))
	return text
}

// Memory returns the memory that is available to new processes of this one: what the machine
// has, or less if a cgroup has less below its limit. It is not ok where the system does not
// say; now that is everywhere but on Linux.
func (m *Meter) Memory() (mem Memory, ok bool) {
	text := m.read("proc/meminfo")
	available, ok := field(text, "MemAvailable:")
	if !ok {
		return Memory{}, false
	}
	total, _ := field(text, "MemTotal:")
	mem = Memory{available << 10, total << 10, "memory"} // in KiB, though it says kB
	for _, dir := range m.memory {
		limit := int64(math.MaxInt64) // version 1 writes a number close to it if there is no limit
		for _, name := range m.limits {
			if n, ok := number(m.read(dir, name)); ok {
				limit = min(limit, n)
			}
		}
		if limit == math.MaxInt64 {
			continue
		}
		used, ok := number(m.read(dir, m.usage))
		if !ok {
			continue
		}
		stat := m.read(dir, "memory.stat")
		for _, name := range m.cache {
			n, _ := field(stat, name)
			used -= n
		}
		// The figures are of different moments, so that what is left may seem more than all.
		if left := min(max(0, limit-max(0, used)), limit); left < mem.Available {
			mem = Memory{left, limit, "memory of the cgroup"}
		}
	}
	return mem, true
}

// Kills returns how many processes the kernel has killed for want of memory in the cgroup of this
// process; 0 if it does not say.
func (m *Meter) Kills() int64 {
	for _, dir := range m.memory {
		if n, ok := field(m.read(dir, m.kills), "oom_kill"); ok {
			return n
		}
	}
	return 0
}

// CPUs returns how many CPUs the jobs of this process can keep busy: the least of GOMAXPROCS, of
// the CPUs that the process may run on, and of the quotas of its cgroups, which may be a part of a
// CPU. It may change while the process runs. Of version 1 of cgroups, only GOMAXPROCS follows the
// quota.
//
// GOMAXPROCS counts since it is how a user tells Go programs what their share is, and jobs that are
// Go programs obey it as well.
func (m *Meter) CPUs() float64 {
	return min(float64(runtime.GOMAXPROCS(0)), float64(affinity()), m.quota())
}

// quota returns how many CPUs the cgroups allow: the least of them, +Inf without a limit.
func (m *Meter) quota() float64 {
	least := math.Inf(1)
	for _, dir := range m.cpu {
		first, rest, _ := bytes.Cut(m.read(dir, "cpu.max"), []byte(" "))
		quota, ok := number(first)
		if period, has := number(rest); ok && has && quota > 0 && period > 0 {
			least = min(least, float64(quota)/float64(period))
		}
	}
	return least
}

// CPUs returns how many CPUs a new Meter counts, rounded up.
func CPUs() int { return Whole(NewMeter().CPUs()) }

// Whole returns a number of CPUs, rounded up.
func Whole(cpus float64) int { return int(math.Ceil(cpus)) }

// field returns the number after a name that a line begins with.
func field(text []byte, name string) (int64, bool) {
	for line := range bytes.Lines(text) {
		if f := bytes.Fields(line); len(f) > 1 && string(f[0]) == name {
			return number(f[1])
		}
	}
	return 0, false
}

// number returns the number that is all of text but space around it.
func number(text []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	return n, err == nil
}
