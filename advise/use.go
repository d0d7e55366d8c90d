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
	wall, cpu     time.Duration
	queued, mutex time.Duration // threads waited for a CPU (of Linux alone), and goroutines for a mutex; of lists
	memory        uint64        // allocated
}

// use returns what was used until now.
func (s *session) use() usage {
	own := s.own
	if own == nil {
		own = processCPU
	}
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/sync/mutex/wait/total:seconds"}}
	metrics.Read(samples)
	u := usage{cpu: own(), memory: samples[0].Value.Uint64(), mutex: time.Duration(samples[1].Value.Float64() * 1e9)}
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
	return usage{wall / n, (u.cpu - before.cpu) / n, (u.queued - before.queued) / n, (u.mutex - before.mutex) / n, (u.memory - before.memory) / uint64(n)}
}

// uncontended returns the time of a list that computes, without that in which other programs
// used the CPUs: the CPU time, divided by the threads that could have run at once. If goroutines waited for a
// mutex, it is not known.
func (u usage) uncontended() time.Duration {
	threads := min(float64(runtime.GOMAXPROCS(0)), max(1, (u.cpu+u.queued).Seconds()/u.wall.Seconds()))
	if u.queued <= 0 || u.mutex > u.wall/20 {
		return u.wall
	}
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
