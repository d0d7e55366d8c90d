package advise

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"time"
)

// A usage is what was used until some time, or in some time.
type usage struct {
	wall, cpu time.Duration
	queued    time.Duration // threads waited for a CPU; of lists, on Linux
	slept     time.Duration // a millisecond for each time that a thread has slept
	memory    uint64        // allocated
}

// use returns what was used until now.
func (s *session) use() usage {
	allocated := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(allocated)
	u := usage{memory: allocated[0].Value.Uint64()}
	if u.cpu, u.slept = processUse(); s.own != nil {
		u.cpu = s.own()
	}
	if s.CPU != nil {
		u.cpu += s.CPU()
	}
	if s.unit > 1 {
		threads, _ := filepath.Glob("/proc/self/task/*/schedstat")
		for _, name := range threads {
			var ran, queued time.Duration
			text, _ := os.ReadFile(name)
			fmt.Sscan(string(text), &ran, &queued)
			u.queued += queued
		}
	}
	return u
}

// since returns what each of some items has used in a time.
func (u usage) since(before usage, wall time.Duration, items int) usage {
	n := time.Duration(items)
	return usage{wall / n, (u.cpu - before.cpu) / n, (u.queued - before.queued) / n, (u.slept - before.slept) / n, (u.memory - before.memory) / uint64(n)}
}

// uncontended returns the time of a list that computes, without that in which other programs
// used the CPUs: the CPU time, divided by the number of threads that ran or waited for a CPU.
// If threads slept, as for a lock, that number says nothing.
func (u usage) uncontended() time.Duration {
	if u.queued <= 0 || u.slept > u.wall {
		return u.wall
	}
	threads := min(float64(runtime.GOMAXPROCS(0)), max(1, (u.cpu+u.queued).Seconds()/u.wall.Seconds()))
	return min(u.wall, time.Duration(float64(u.cpu)/threads))
}

// machine returns the CPU time of all programs, and that of none. Linux alone tells.
func machine() (busy, idle time.Duration) {
	const tick = 10 * time.Millisecond
	var user, nice, system, rest, wait, irq, soft, steal time.Duration
	text, _ := os.ReadFile("/proc/stat")
	fmt.Sscanf(string(text), "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &rest, &wait, &irq, &soft, &steal)
	return (user + nice + system + irq + soft + steal) * tick, (rest + wait) * tick
}

// share is the CPU time per unit of time; 0: not known.
func (u usage) share() float64 { return u.cpu.Seconds() / max(1, u.wall).Seconds() }

func work(share float64) Work {
	switch {
	case share == 0:
		return Unknown
	case share >= 0.8:
		return Computes
	case share <= 0.2:
		return Waits
	}
	return Both
}
