package advise

import (
	"fmt"
	"os"
	"runtime/metrics"
	"time"
)

// A usage is what items have used.
type usage struct {
	items     int
	wall, cpu time.Duration
	memory    uint64 // allocated
}

// use returns the CPU time and the memory until now.
func (s *session) use() usage {
	if s.CPU != nil {
		return usage{cpu: s.CPU()}
	}
	allocated := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(allocated)
	return usage{cpu: processCPU(), memory: allocated[0].Value.Uint64()}
}

// add adds items that ran between two uses.
func (u *usage) add(before, after usage, wall time.Duration, items int) {
	u.items += items
	u.wall += wall
	u.cpu += after.cpu - before.cpu
	u.memory += after.memory - before.memory
}

// share is the CPU time per unit of time; 0: not known.
func (u *usage) share() float64 {
	if u.wall == 0 {
		return 0
	}
	return u.cpu.Seconds() / u.wall.Seconds()
}

func (u *usage) work() Work {
	switch share := u.share(); {
	case share == 0:
		return Unknown
	case share >= 0.8:
		return Computes
	case share <= 0.2:
		return Waits
	}
	return Both
}

// machine returns the CPU time that all programs have used, and that nobody used as the wall
// time; 0 if the system is not Linux.
func machine() usage {
	text, _ := os.ReadFile("/proc/stat")
	var user, nice, system, idle, wait, irq, soft, steal time.Duration
	fmt.Sscanf(string(text), "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq, &soft, &steal)
	const tick = 10 * time.Millisecond
	return usage{cpu: (user + nice + system + irq + soft + steal) * tick, wall: (idle + wait) * tick}
}
