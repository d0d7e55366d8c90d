package machine

import (
	"bytes"
	"math"
	"os"
	"path"
	"strings"
)

// noLimit is a limit in bytes that is none: version 1 of cgroups writes a number close to 2^63.
const noLimit = 1 << 60

// A hierarchy of cgroups limits a resource: the cgroup of the process does, and each above it.
type hierarchy struct {
	version int      // 1 or 2; 0: there is none
	dirs    []string // of the cgroup of the process, and those above it
}

// hierarchyOf returns the hierarchy of a controller, by the lines of /proc/self/cgroup. If both
// versions are mounted, a line of version 1 names its controllers. In a container, the path may be
// that outside, where it is not to be seen; then those above lead to the one that is mounted as the
// root.
func hierarchyOf(root, lines, controller string) (h hierarchy) {
	mount, dir := "sys/fs/cgroup", "/"
	for line := range strings.Lines(lines) {
		field := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		switch {
		case len(field) != 3:
		case strings.Contains(","+field[1]+",", ","+controller+","):
			h.version, dir = 1, path.Join("/", field[2])
		case field[0] == "0" && field[1] == "" && h.version == 0:
			h.version, dir = 2, path.Join("/", field[2])
		}
	}
	if h.version == 1 {
		mount = path.Join(mount, controller)
	}
	for ; h.version > 0; dir = path.Dir(dir) {
		h.dirs = append(h.dirs, path.Join(root, mount, dir))
		if dir == "/" {
			break
		}
	}
	return h
}

// open opens a file of each cgroup that has it, by its name in version 1 or 2. Limits are read
// each time, as an administrator may change them.
func (h hierarchy) open(v1, v2 string) (files []*os.File) {
	name := v1
	if h.version == 2 {
		name = v2
	}
	for _, dir := range h.dirs {
		var f *os.File
		if name != "" {
			f = openFile(path.Join(dir, name))
		}
		files = append(files, f)
	}
	return files
}

// What counts as cache is what MemAvailable counts: active_file too, which is where the kernel
// has the pages that were read twice. To leave it out would keep jobs from starting after the
// first of them have read many files. Memory that is shared is not in these lists.
var cache = [...][]string{
	1: {"total_inactive_file", "total_active_file"},
	2: {"inactive_file", "active_file", "slab_reclaimable"},
}

// group returns what the cgroup has left below its limit, that of the process or the ith above. It
// is not ok without a limit.
func (m *Meter) group(i int) (mem Memory, ok bool) {
	limit := int64(noLimit)
	for _, f := range [...]*os.File{m.max[i], m.high[i]} {
		if n, ok := number(m.read(f)); ok {
			limit = min(limit, n)
		}
	}
	if limit == noLimit {
		return Memory{}, false
	}
	used, ok := number(m.read(m.usage[i]))
	stat := m.read(m.stat[i])
	for _, name := range cache[m.version] {
		n, _ := field(stat, name)
		used -= n
	}
	// The figures are of different moments, so that what is left may seem more than all.
	return Memory{min(max(0, limit-max(0, used)), limit), limit, "memory of the cgroup"}, ok
}

// quota returns how many CPUs the cgroups allow: the least of them, +Inf without a limit. Version 1
// has the period in a file of its own.
func (m *Meter) quota() float64 {
	least := math.Inf(1)
	for i, f := range m.cpuMax {
		first, rest, _ := bytes.Cut(bytes.TrimSpace(m.read(f)), []byte(" "))
		quota, ok := number(first)
		period, has := number(rest)
		if m.cpuPeriod[i] != nil {
			period, has = number(m.read(m.cpuPeriod[i]))
		}
		if ok && has && quota > 0 && period > 0 {
			least = min(least, float64(quota)/float64(period))
		}
	}
	return least
}
