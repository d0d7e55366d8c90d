package auto

import (
	"bytes"
	"math"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	groupInterval = memoryInterval   // between readings of what a cgroup uses
	findInterval  = 10 * time.Second // between searches for cgroups that have a limit
	noGroupLimit  = 1 << 60          // bytes, from which a limit is none: version 1 writes a number close to 2^63
)

// A groupUse is the memory of a cgroup in bytes: what all its processes use without what the
// kernel drops before it kills one, and the limit, 0 for none.
type groupUse struct{ used, limit float64 }

// A groupFile is a cgroup that has a memory limit.
type groupFile struct {
	dir   string
	kind  *groupKind
	limit float64
}

// A groupKind names the files of a version of cgroups.
type groupKind struct {
	mount, limit, usage string
	cache               []string // in memory.stat: dropped when memory is short
}

var (
	groupV1 = groupKind{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
		[]string{"total_inactive_file", "total_active_file"}}
	groupV2 = groupKind{"sys/fs/cgroup", "memory.max", "memory.current",
		[]string{"inactive_file", "active_file", "slab_reclaimable"}}
)

// A groupReading is what was read from the cgroups. It does not change.
type groupReading struct {
	found, at time.Time
	groups    []groupFile
	use       groupUse
}

// lastGroups is the last reading of any search of the process, nil before the first: many
// searches are shorter than a reading takes. Two that find it too old both read.
var lastGroups atomic.Pointer[groupReading]

// processGroup returns the memory of the cgroup of the process that is nearest to its limit.
func processGroup() groupUse {
	if runtime.GOOS != "linux" {
		return groupUse{}
	}
	now, last := time.Now(), lastGroups.Load()
	if last != nil && age(now, last.found) < findInterval && (len(last.groups) == 0 || age(now, last.at) < groupInterval) {
		return last.use
	}
	next := groupReading{at: now}
	if last != nil && age(now, last.found) < findInterval {
		next.found, next.groups = last.found, last.groups
	} else {
		next.found, next.groups = now, findGroups("/")
	}
	next.use = nearest(next.groups)
	lastGroups.Store(&next)
	return next.use
}

// age returns the time between two readings of the wall clock. Either may be that of a
// synctest bubble, so it counts in both directions.
func age(a, b time.Time) time.Duration { return a.Round(0).Sub(b.Round(0)).Abs() }

// findGroups returns the cgroups of the process that limit memory: its own and those above.
// In a container, the path of its own may be that outside, where it is not to be seen; then
// those above lead to the one that is mounted as the root.
func findGroups(root string) (groups []groupFile) {
	text, _ := os.ReadFile(path.Join(root, "proc/self/cgroup"))
	kind, dir := groupOf(string(text))
	if kind == nil {
		return nil
	}
	for {
		at := path.Join(root, kind.mount, dir)
		if n := readNumber(path.Join(at, kind.limit)); n > 0 && n < noGroupLimit {
			groups = append(groups, groupFile{at, kind, n})
		}
		if dir == "/" {
			return groups
		}
		dir = path.Dir(dir)
	}
}

// groupOf returns the kind and the path of the cgroup of /proc/self/cgroup that accounts for
// memory, nil if there is none. If both versions are mounted, a line of version 1 names its
// controllers.
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

// nearest returns the use of the group with the least left below its limit. A group that
// cannot be read is left out.
func nearest(groups []groupFile) (use groupUse) {
	least := math.Inf(1)
	for _, g := range groups {
		used := readNumber(path.Join(g.dir, g.kind.usage))
		if used < 0 {
			continue
		}
		used = max(0, used-g.cache())
		if left := g.limit - used; left < least {
			least, use = left, groupUse{used, g.limit}
		}
	}
	return use
}

// cache returns the bytes that the kernel drops when memory is short.
func (g groupFile) cache() (sum float64) {
	text, _ := os.ReadFile(path.Join(g.dir, "memory.stat"))
	for line := range bytes.Lines(text) {
		name, value, _ := bytes.Cut(line, []byte(" "))
		for _, c := range g.kind.cache {
			if string(name) == c {
				sum += max(0, number(value))
			}
		}
	}
	return sum
}

// readNumber returns the number in a file, -1 if there is none: "max", or no such file.
func readNumber(name string) float64 {
	text, err := os.ReadFile(name)
	if err != nil {
		return -1
	}
	return number(text)
}

func number(text []byte) float64 {
	n, err := strconv.ParseFloat(string(bytes.TrimSpace(text)), 64)
	if err != nil || math.IsNaN(n) || n < 0 {
		return -1
	}
	return n
}
