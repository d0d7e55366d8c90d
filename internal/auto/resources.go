package auto

import (
	"fmt"
	"math"
	"runtime/debug"
	"runtime/metrics"
)

const (
	growShare   = 0.7  // of GOMEMLIMIT, up to which the limit grows; the rest is for garbage and unequal tasks
	groupShare  = 0.85 // of the memory limit of the cgroup, or more: here garbage counts as used
	shortShare  = 0.5  // of what is beyond that: from there on the limit backs off
	changeShare = 0.02 // the least change of the share in use that counts as a change
	maxThreads  = 2000 // in the process, beyond which no limit grows; the runtime aborts a process at 10,000
	mib         = 1 << 20
)

// A resources bounds the limit by memory and threads of the process, which throughput
// does not show. The zero value is ready to use. It is not safe for concurrent use.
//
// There are two bounds. GOMEMLIMIT bounds the live heap after a garbage collection: the memory
// that the runtime holds does not tell, as with GOGC=off it is close to GOMEMLIMIT most of the
// time. The memory limit of the cgroup bounds what is not Go's, and the heap with the garbage
// that the collector leaves, as it knows nothing of that limit.
type resources struct {
	read    func() usage // replaces the runtime in tests
	samples [len(metricNames)]metrics.Sample

	workers     int    // the limit that room was asked for last
	collections uint64 // completed when room was asked for that limit first
	heap, group bound
}

// A usage is what the process uses.
type usage struct {
	threads, collections uint64
	all                  float64 // bytes of all objects and stacks, garbage included
	kept                 float64 // bytes that the last collection kept, and stacks
	idle                 float64 // bytes that the runtime holds for the heap, without objects
	percent              float64 // GOGC; infinite if it is off
	group                groupUse
}

var metricNames = [...]string{
	"/sched/threads/total:threads",
	"/gc/cycles/total:gc-cycles",
	"/memory/classes/heap/objects:bytes",
	"/gc/heap/live:bytes",
	"/memory/classes/heap/stacks:bytes",
	"/memory/classes/heap/free:bytes",
	"/memory/classes/heap/unused:bytes",
	"/gc/gogc:percent",
}

// usage reads the metrics. A metric that the runtime does not know is 0.
func (c *resources) usage() usage {
	if c.read != nil {
		return c.read()
	}
	if c.samples[0].Name == "" {
		for i, name := range metricNames {
			c.samples[i].Name = name
		}
	}
	metrics.Read(c.samples[:])
	var n [len(metricNames)]uint64
	for i, s := range c.samples {
		if s.Value.Kind() == metrics.KindUint64 {
			n[i] = s.Value.Uint64()
		}
	}
	percent := float64(n[7])
	if n[7] == math.MaxUint64 {
		percent = math.Inf(1)
	}
	return usage{n[0], n[1], float64(n[2] + n[4]), float64(n[3] + n[4]), float64(n[5] + n[6]), percent, processGroup()}
}

// memoryLimit returns GOMEMLIMIT in bytes, a number beyond all memory if there is none.
func memoryLimit() float64 { return float64(debug.SetMemoryLimit(-1)) }

// room returns the largest limit up to want that threads and memory allow, and why it
// is less than want, "" if it is not. All of now workers are at work, and the result is
// at least now.
func (c *resources) room(now, want int) (n int, reason string) {
	u := c.usage()
	if u.threads > maxThreads {
		return now, fmt.Sprintf("threads: %d in the process", u.threads)
	}
	live, seen := c.inUse(u, now)
	limit := memoryLimit()
	n, reason = c.heap.room(now, want, memory{live, min(live, u.kept), u.all, growShare * limit, limit, seen, ""})
	if u.group.limit > 0 {
		used, sure := u.inGroup(live), u.inGroup(min(live, u.kept))
		m := memory{used, sure, max(u.group.used-u.idle, sure), u.groupShare() * u.group.limit, u.group.limit, seen, " of the cgroup"}
		if least, why := c.group.room(now, want, m); least < n {
			n, reason = least, why
		}
	}
	return n, reason
}

// inUse estimates the bytes in use with so many workers: all objects, until a
// collection has seen the tasks of these workers.
func (c *resources) inUse(u usage, workers int) (bytes float64, seen bool) {
	if c.workers != workers {
		c.workers, c.collections = workers, u.collections
	}
	if c.collections == u.collections {
		return u.all, false
	}
	return u.kept, true
}

// inGroup returns the bytes that the cgroup needs if so many are live in the heap: with the
// garbage that the collector lets grow up to GOMEMLIMIT, and all that is not in the heap. If
// nothing is ever collected, garbage is as good as live.
func (u *usage) inGroup(live float64) float64 {
	rest := max(0, u.group.used-u.all-u.idle)
	limit := memoryLimit()
	if math.IsInf(u.percent, 1) && limit > u.group.limit {
		return rest + u.all
	}
	return rest + max(live, min(live*(1+u.percent/100), limit))
}

// groupShare returns the share of the cgroup's memory up to which the limit grows. Whoever sets
// GOMEMLIMIT close below the limit of the cgroup has left to the rest what it needs.
func (u *usage) groupShare() float64 {
	if x := memoryLimit() / u.group.limit; x < 1 {
		return max(groupShare, (1+x)/2)
	}
	return groupShare
}

// memoryShort reports whether the limit is to back off for want of memory. It reports
// true again only when the share in use has changed: a backoff that frees nothing is not
// worth another.
func (c *resources) memoryShort() bool {
	u := c.usage()
	short := c.heap.isShort(u.kept/memoryLimit(), growShare)
	if g := u.group.limit; g > 0 && c.group.isShort(u.inGroup(u.kept)/g, u.groupShare()) {
		short = true
	}
	return short
}
