package auto

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
)

// What is measured is the memory that a collection keeps, and not all that the
// runtime has from the system (/memory/classes/total less released). The
// latter holds garbage and free spans, and falls late or never after the tasks
// that caused it. With GOGC=off and GOMEMLIMIT, which many use, it stands at the
// limit all the time: a limit would be frozen by memory that the next collection
// frees.
//
// The two kinds of limits differ in who keeps them. Near GOMEMLIMIT the runtime
// collects more often, so only what it cannot free counts. It does not know the
// limit of a cgroup, and fills the heap to (1 + GOGC/100) times what the last
// collection kept: there that much counts, before it is there. A program that
// has to hold more than a third of its cgroup sets GOMEMLIMIT.
const (
	growShare   = 0.7  // a limit may grow up to this share; the rest is for garbage, fragments, tasks that differ
	pressShare  = 0.85 // above this share it should fall
	changeShare = 0.02 // a share that changed by less has not changed

	unlimited = 1 << 60 // bytes; a kernel says "no limit" with a number above
	mib       = 1 << 20
)

// A bound is what the memory of the process must not exceed; bytes is 0 if
// there is none.
type bound struct {
	bytes float64
	ours  bool // the runtime keeps it: GOMEMLIMIT
}

// A point is what so many workers held, with all else in the process.
type point struct {
	workers int
	held    float64
}

// memoryRoom is room as far as memory decides. A task takes, as far as is known,
// what each worker has taken so far.
func (c *ceiling) memoryRoom(now, want int) (most int, reason string) {
	bound := memoryLimit()
	if bound.bytes == 0 {
		return want, ""
	}
	c.sample(readObjects, readGOGC)
	held, allowed, swell := c.hold(now), growShare*bound.bytes, c.swell(bound)
	each, known := c.each(point{now, held})
	held, each = swell*held, swell*each
	if held+each*float64(want-now) <= allowed {
		return want, ""
	}
	most = now
	if held < allowed {
		most += int((allowed - held) / each)
		if !known {
			most = max(most, now+1) // or it will never be known
		}
	}
	if most >= want {
		return want, ""
	}
	when := ""
	if !bound.ours {
		when = " before a collection"
	}
	return most, fmt.Sprintf("memory: %.0f of %.0f MiB in use%s, %.1f MiB a worker", held/mib, allowed/mib, when, each/mib)
}

// pressedBy is pressed when such a share of the memory limit is in use.
func (c *ceiling) pressedBy(share float64) bool {
	switch {
	case share <= growShare:
		c.fell = 0
	case share > pressShare && math.Abs(share-c.fell) >= changeShare:
		c.fell = share
		return true
	}
	return false
}

// hold returns what the process is held to keep with now workers. At first that
// is all objects, dead ones included. A collection that ended since room was last
// asked, by the same limit, has seen these workers' tasks: what it kept counts at
// once if it is more, and by half if it is less, for the tasks may have been few
// at that moment, and the limit would grow by luck.
func (c *ceiling) hold(now int) float64 {
	all, seen := float64(c.value(readObjects)+c.value(readStacks)), c.value(readCycles) > c.cycles
	same := c.asked == now && c.held > 0
	c.asked, c.cycles = now, c.value(readCycles)
	switch {
	case !same:
		c.held = all
	case seen:
		c.held = max(c.kept(), (c.held+c.kept())/2)
	default:
		return max(c.held, all)
	}
	return c.held
}

// kept returns what the last collection has kept. Until the next one the heap
// is below c.swell times that, whatever the tasks do.
func (c *ceiling) kept() float64 {
	return float64(c.value(readLive) + c.value(readStacks))
}

// swell returns how many times what a collection keeps counts against b.
func (c *ceiling) swell(b bound) float64 {
	percent := c.value(readGOGC)
	if b.ours || percent > math.MaxInt32 { // GOGC=off: nothing is collected, so nothing is in vain
		return 1
	}
	return 1 + float64(percent)/100
}

// each returns what a worker holds at p, and whether that is known: it takes a
// point with fewer workers and less memory. Without one, each worker is said to
// hold its part of everything.
func (c *ceiling) each(p point) (bytes float64, known bool) {
	if c.base.held == 0 || p.workers <= c.base.workers || p.held <= c.base.held {
		c.base = p
		if p.workers == 0 {
			return 0, false
		}
		return p.held / float64(p.workers), false
	}
	return (p.held - c.base.held) / float64(p.workers-c.base.workers), true
}

// memoryLimit returns the limit of the process. GOMEMLIMIT is read each time:
// it may be set while the program runs, and reading it takes one lock.
func memoryLimit() bound {
	set, group := uint64(debug.SetMemoryLimit(-1)), cgroup.Load()
	if group == 0 {
		group = readCgroup()
		cgroup.Store(group)
	}
	if least := min(set, group); least < unlimited {
		return bound{bytes: float64(least), ours: set <= group}
	}
	return bound{}
}

// MemoryLimit returns the bytes that the process may use, the lesser of GOMEMLIMIT and the
// limit of its cgroup; 0 if it has neither.
func MemoryLimit() int64 { return int64(memoryLimit().bytes) }

// cgroup is what readCgroup has returned, 0 until somebody needs it. The files
// are read once in a process: that takes some 100 µs.
var cgroup atomic.Uint64

// readCgroup returns the bytes that the process may use by its cgroup.
func readCgroup() uint64 {
	if runtime.GOOS != "linux" {
		return math.MaxUint64
	}
	root := os.DirFS("/")
	groups, _ := fs.ReadFile(root, "proc/self/cgroup")
	return cgroupLimit(string(groups), root)
}

// cgroupLimit returns the smallest memory limit of the cgroups in groups, the
// text of /proc/self/cgroup, and of those above them. A container may see its
// own group as the root, or under a path that is not mounted: files that are
// not there count as no limit.
func cgroupLimit(groups string, root fs.FS) uint64 {
	least := uint64(math.MaxUint64)
	for line := range strings.Lines(groups) {
		// hierarchy:controllers:path, and no controllers in version 2
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, ok := strings.Cut(rest, ":")
		mount, file := "sys/fs/cgroup", "memory.max"
		switch {
		case !ok:
			continue
		case strings.Contains(","+controllers+",", ",memory,"):
			mount, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		case controllers != "":
			continue
		}
		for group = path.Join("/", group); ; group = path.Dir(group) {
			text, _ := fs.ReadFile(root, path.Join(mount, group, file))
			if n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil {
				least = min(least, n)
			}
			if group == "/" {
				break
			}
		}
	}
	return least
}
