package machine

import (
	"os"
	"path"
	"strings"
)

// noLimit is a limit in bytes that is none: version 1 of cgroups writes a number close to 2^63.
const noLimit = 1 << 60

// group is a cgroup that may limit memory. Its limits are read each time, as an administrator
// may change them.
type group struct {
	max, high   *os.File // a limit in bytes, or "max"; nil if there is no such file
	usage, stat *os.File
	kind        *groupKind
}

// groupKind has the names of the files of a version of cgroups.
type groupKind struct {
	mount, max, high, usage string
	cache                   []string // in memory.stat: what the kernel drops when memory is short
}

// What counts as cache is what MemAvailable counts: active_file too, which is where the kernel
// has the pages that were read twice. To leave it out would keep jobs from starting after the
// first of them have read many files. Memory that is shared is not in these lists.
var (
	groupV1 = groupKind{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "", "memory.usage_in_bytes",
		[]string{"total_inactive_file", "total_active_file"}}
	groupV2 = groupKind{"sys/fs/cgroup", "memory.max", "memory.high", "memory.current",
		[]string{"inactive_file", "active_file", "slab_reclaimable"}}
)

// openGroups returns the cgroups of /proc/self/cgroup that may limit memory: that of the
// process and those above. In a container, the path may be that outside, where it is not to be
// seen; then those above lead to the one that is mounted as the root.
func openGroups(root, lines string) (groups []group) {
	kind, dir := groupOf(lines)
	for kind != nil {
		open := func(name string) *os.File { return openFile(path.Join(root, kind.mount, dir, name)) }
		g := group{max: open(kind.max), usage: open(kind.usage), stat: open("memory.stat"), kind: kind}
		if kind.high != "" {
			g.high = open(kind.high)
		}
		groups = append(groups, g)
		if dir == "/" {
			break
		}
		dir = path.Dir(dir)
	}
	return groups
}

// groupOf returns the kind and the path of the cgroup that accounts for memory, nil if there is
// none. If both versions are mounted, a line of version 1 names its controllers.
func groupOf(lines string) (kind *groupKind, dir string) {
	for line := range strings.Lines(lines) {
		field := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		switch {
		case len(field) != 3:
		case strings.Contains(","+field[1]+",", ",memory,"):
			return &groupV1, path.Join("/", field[2])
		case field[0] == "0" && field[1] == "":
			kind, dir = &groupV2, path.Join("/", field[2])
		}
	}
	return kind, dir
}

// group returns what a cgroup has left below its limit. It is not ok without a limit.
func (m *Meter) group(g *group) (mem Memory, ok bool) {
	limit := int64(noLimit)
	for _, f := range [...]*os.File{g.max, g.high} {
		if n, ok := number(m.read(f)); ok {
			limit = min(limit, n)
		}
	}
	if limit == noLimit {
		return Memory{}, false
	}
	used, ok := number(m.read(g.usage))
	stat := m.read(g.stat)
	for _, name := range g.kind.cache {
		n, _ := field(stat, name)
		used -= n
	}
	// The figures are of different moments, so that what is left may seem more than all.
	return Memory{min(max(0, limit-max(0, used)), limit), limit, "memory of the cgroup"}, ok
}
