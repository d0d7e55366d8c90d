package auto

import (
	"fmt"
	"math"
	"runtime/debug"
	"runtime/metrics"
)

const (
	growShare    = 0.7  // of GOMEMLIMIT, up to which the limit grows; the rest is for garbage and unequal tasks
	shortShare   = 0.85 // from which on the limit backs off
	changeShare  = 0.02 // the least change of the share in use that counts as a change
	trialWorkers = 2    // more than now, which tell what a worker needs
	maxThreads   = 2000 // in the process, beyond which no limit grows; the runtime aborts a process at 10,000
	mib          = 1 << 20
)

// A resources bounds the limit by memory and threads of the process, which throughput does not
// show. The zero value is ready to use. It is not safe for concurrent use.
//
// GOMEMLIMIT bounds the live heap after a garbage collection: the memory that the runtime holds
// does not tell, as with GOGC=off it is close to GOMEMLIMIT most of the time.
type resources struct {
	read    func() usage // replaces the runtime in tests
	samples [len(metricSamples)]metrics.Sample

	workers     int     // the limit that room was asked for last
	collections uint64  // completed when room was asked for that limit first
	fewest      int     // the fewest workers, or the least memory, seen so far:
	base        float64 // bytes in use with these workers
	short       float64 // the share of GOMEMLIMIT when memory was short last; 0 once it suffices
}

// A usage is what the process uses.
type usage struct {
	threads, collections uint64
	all                  float64 // bytes of all objects and stacks, garbage included
	kept                 float64 // bytes that the last collection kept, and stacks
}

var metricSamples = [...]metrics.Sample{
	{Name: "/sched/threads/total:threads"},
	{Name: "/gc/cycles/total:gc-cycles"},
	{Name: "/memory/classes/heap/objects:bytes"},
	{Name: "/gc/heap/live:bytes"},
	{Name: "/memory/classes/heap/stacks:bytes"},
}

// usage reads the metrics. A metric that the runtime does not know is 0.
func (c *resources) usage() usage {
	if c.read != nil {
		return c.read()
	}
	if c.samples[0].Name == "" {
		c.samples = metricSamples
	}
	metrics.Read(c.samples[:])
	var n [len(metricSamples)]uint64
	for i, s := range c.samples {
		if s.Value.Kind() == metrics.KindUint64 {
			n[i] = s.Value.Uint64()
		}
	}
	return usage{n[0], n[1], float64(n[2] + n[4]), float64(n[3] + n[4])}
}

// room returns the largest limit up to want that threads and memory allow, and why it
// is less than want, "" if it is not. All of now workers are at work, and the result is
// at least now.
//
// Until a collection has seen the tasks of these workers, nobody knows how much of the heap is
// garbage. No more can be in use than all of it, nor than what the last collection kept and what
// the workers need.
func (c *resources) room(now, want int) (n int, reason string) {
	u := c.usage()
	if u.threads > maxThreads {
		return now, fmt.Sprintf("threads: %d in the process", u.threads)
	}
	if c.workers != now {
		c.workers, c.collections = now, u.collections
	}
	limit, used := float64(debug.SetMemoryLimit(-1)), u.kept // beyond all memory if there is none
	seen := c.collections < u.collections
	if !seen {
		used = u.all
	}
	each, known := c.perWorker(now, used)
	more := (growShare*limit - min(used, u.kept+each*float64(now))) / each
	if !seen {
		more = min(more, (limit-u.all)/each)
	}
	if !known && u.kept < growShare*limit && u.all < limit {
		more = max(more, trialWorkers)
	}
	if more >= float64(want-now) {
		return want, ""
	}
	return now + max(0, int(more)), fmt.Sprintf("memory: %.0f of %.0f MiB in use, %.1f MiB a worker", used/mib, growShare*limit/mib, each/mib)
}

// perWorker estimates the bytes of a worker by comparison with the base. Without a base of fewer
// workers and less memory they are not known: all memory is shared out then, though most of it
// may have been in use before any worker ran.
func (c *resources) perWorker(workers int, used float64) (bytes float64, known bool) {
	if c.base > 0 && workers > c.fewest && used > c.base {
		return (used - c.base) / float64(workers-c.fewest), true
	}
	c.fewest, c.base = workers, used
	return used / float64(workers), false
}

// memoryShort reports whether the limit is to back off for want of memory. It reports
// true again only when the share in use has changed: a backoff that frees nothing is not
// worth another.
func (c *resources) memoryShort() bool {
	switch share := c.usage().kept / float64(debug.SetMemoryLimit(-1)); {
	case share <= growShare:
		c.short = 0
	case share > shortShare && math.Abs(share-c.short) >= changeShare:
		c.short = share
		return true
	}
	return false
}
