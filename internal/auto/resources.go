package auto

import (
	"fmt"
	"math"
	"runtime/debug"
	"runtime/metrics"
)

const (
	growShare    = 0.7  // of the memory limit, up to which the limit grows; the rest is for garbage and unequal tasks
	backoffShare = 0.85 // of the memory limit, beyond which the limit backs off
	changeShare  = 0.02 // the least change of the share that counts as a change
	maxThreads   = 2000 // in the process, beyond which no limit grows; the runtime aborts a process at 10,000
	mib          = 1 << 20
)

// A resources bounds the limit by memory and threads of the process, which throughput
// does not show. The zero value is ready to use. It is not safe for concurrent use.
//
// The memory in use is the live heap after a garbage collection, compared with GOMEMLIMIT.
// The memory that the runtime holds does not tell: with GOGC=off it is close to GOMEMLIMIT
// most of the time.
type resources struct {
	read    func() usage // replaces the runtime in tests
	samples [len(metricNames)]metrics.Sample

	workers     int     // the limit that room was asked for last
	collections uint64  // completed when room was asked for that limit first
	baseWorkers int     // the fewest workers, or the least memory, seen so far:
	base        float64 // bytes in use with baseWorkers
	short       float64 // the share of the memory limit when it was short last; 0 once memory suffices
}

// A usage is what the process uses.
type usage struct {
	threads, collections uint64
	all                  float64 // bytes of all objects and stacks, garbage included
	kept                 float64 // bytes that the last collection kept, and stacks
}

var metricNames = [...]string{
	"/sched/threads/total:threads",
	"/gc/cycles/total:gc-cycles",
	"/memory/classes/heap/objects:bytes",
	"/gc/heap/live:bytes",
	"/memory/classes/heap/stacks:bytes",
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
	return usage{n[0], n[1], float64(n[2] + n[4]), float64(n[3] + n[4])}
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
	used, allowed := c.inUse(u, now), growShare*memoryLimit()
	each, known := c.perWorker(now, used)
	more := max(0, allowed-used) / each
	if used < allowed && !known {
		more = max(1, more) // one more worker tells
	}
	if more >= float64(want-now) {
		return want, ""
	}
	return now + int(more), fmt.Sprintf("memory: %.0f of %.0f MiB in use, %.1f MiB a worker", used/mib, allowed/mib, each/mib)
}

// inUse estimates the bytes in use with so many workers: all objects, until a
// collection has seen the tasks of these workers.
func (c *resources) inUse(u usage, workers int) float64 {
	if c.workers != workers {
		c.workers, c.collections = workers, u.collections
	}
	if c.collections == u.collections {
		return u.all
	}
	return u.kept
}

// perWorker estimates the bytes of a worker by comparison with the base. They are not
// known without a base of fewer workers and less memory: all memory is shared out then.
func (c *resources) perWorker(workers int, used float64) (bytes float64, known bool) {
	if c.base > 0 && workers > c.baseWorkers && used > c.base {
		return (used - c.base) / float64(workers-c.baseWorkers), true
	}
	c.baseWorkers, c.base = workers, used
	return used / float64(workers), false
}

// memoryShort reports whether the limit is to back off for want of memory. It reports
// true again only when the share in use has changed: a backoff that frees nothing is not
// worth another.
func (c *resources) memoryShort() bool {
	switch share := c.usage().kept / memoryLimit(); {
	case share <= growShare:
		c.short = 0
	case share > backoffShare && math.Abs(share-c.short) >= changeShare:
		c.short = share
		return true
	}
	return false
}
