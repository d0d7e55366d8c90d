package advise

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/metrics"
	"time"
)

// A usage is what was used until some time, or in some time.
type usage struct {
	wall, cpu time.Duration
	memory    uint64 // allocated
}

// use returns what was used until now.
func (s *session) use() usage {
	allocated := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(allocated)
	own := s.own
	if own == nil {
		own = processCPU
	}
	u := usage{cpu: own(), memory: allocated[0].Value.Uint64()}
	if s.CPU != nil {
		u.cpu += s.CPU()
	}
	return u
}

// since returns what each of some items has used in a time.
func (u usage) since(before usage, wall time.Duration, items int) usage {
	n := time.Duration(items)
	return usage{wall / n, (u.cpu - before.cpu) / n, (u.memory - before.memory) / uint64(n)}
}

// machine returns the CPU time of all programs, and that of none. Linux alone tells.
func machine() (busy, idle time.Duration) {
	const tick = 10 * time.Millisecond
	var user, nice, system, rest, wait, irq, soft, steal time.Duration
	text, _ := os.ReadFile("/proc/stat")
	fmt.Sscanf(string(text), "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &rest, &wait, &irq, &soft, &steal)
	return (user + nice + system + irq + soft + steal) * tick, (rest + wait) * tick
}

// queued returns how long the threads of this process have waited for a CPU. Linux alone tells.
func queued() (total time.Duration) {
	threads, _ := filepath.Glob("/proc/self/task/*/schedstat")
	for _, name := range threads {
		var ran, waited time.Duration
		text, _ := os.ReadFile(name)
		fmt.Sscan(string(text), &ran, &waited)
		total += waited
	}
	return total
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
