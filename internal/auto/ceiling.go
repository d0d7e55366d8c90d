package auto

import "runtime/metrics"

// A ceiling says how far a limit may grow for reasons that throughput does not
// show: memory and threads. Its zero value is ready. It is not safe for
// concurrent use.
//
// What it reads belongs to the process, not to one limit: it is meant to be
// asked a few times a second at most, before the limit rises and when it may
// have to fall.
type ceiling struct {
	samples []metrics.Sample        // in the order of metricNames; nil until first asked
	figure  func(metric int) uint64 // what a test puts in the place of samples

	asked  int     // the limit in use when room last looked at memory
	cycles uint64  // the collections that had ended then
	held   float64 // what is known of the memory in use with that limit
	base   point   // the fewest workers, or the least memory, that room has seen
	fell   float64 // the share of memory in use when pressed was last true; 0 after relief
}

// The places of the metrics in ceiling.samples. Those of threads and of memory
// are read apart.
const (
	readThreads = iota
	readInCalls
	readObjects
	readLive
	readStacks
	readCycles
	readGOGC
)

// metricNames are what a ceiling reads.
var metricNames = [...]string{
	readThreads: "/sched/threads/total:threads",
	readInCalls: "/sched/goroutines/not-in-go:goroutines",
	readObjects: "/memory/classes/heap/objects:bytes",
	readLive:    "/gc/heap/live:bytes",
	readStacks:  "/memory/classes/heap/stacks:bytes",
	readCycles:  "/gc/cycles/total:gc-cycles",
	readGOGC:    "/gc/gogc:percent",
}

// room returns the largest limit up to want that memory and threads allow, and
// why it is below want: "" if it is not. now is the limit in use, all of whose
// tasks are at work; the result is never below it, unless want is.
//
// Asked with now = 0 before the first task runs, it learns what the process
// holds besides the tasks. Otherwise it takes all memory for theirs until the
// limit has grown once.
//
// Only the text of a refusal is allocated.
func (c *ceiling) room(now, want int) (most int, reason string) {
	most = want
	if want <= now {
		return most, ""
	}
	if n, why := c.threadRoom(now, most); n < most {
		most, reason = n, why
	}
	if n, why := c.memoryRoom(now, most); n < most {
		most, reason = n, why
	}
	return most, reason
}

// pressed reports whether memory is so short that the limit should fall. Having
// said so it does again only when the memory in use has changed: what it sees
// changes with collections, which may be rarer than its calls, and a fall that
// frees nothing is not worth another.
func (c *ceiling) pressed() bool {
	bound := memoryLimit()
	if bound.bytes == 0 {
		return false
	}
	c.sample(readObjects, readGOGC)
	return c.pressedBy(c.swell(bound) * c.kept() / bound.bytes)
}

// sample reads the metrics from first to last.
func (c *ceiling) sample(first, last int) {
	if c.samples == nil {
		c.samples = make([]metrics.Sample, len(metricNames))
		for i, name := range metricNames {
			c.samples[i].Name = name
		}
	}
	metrics.Read(c.samples[first : last+1])
}

// value returns a metric as it was sampled, 0 if the runtime does not know it:
// a Go version without it costs a ceiling, not a panic.
func (c *ceiling) value(metric int) uint64 {
	if c.figure != nil {
		return c.figure(metric)
	}
	if v := c.samples[metric].Value; v.Kind() == metrics.KindUint64 {
		return v.Uint64()
	}
	return 0
}
