package bench

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

// A usage is CPU time until now, of this process with its children and of the machine.
type usage struct {
	at            time.Time
	own, everyone time.Duration
}

func now() usage {
	u := usage{at: time.Now()}
	u.own, _ = own()
	text, _ := os.ReadFile("/proc/stat") // Linux alone has it
	var user, nice, system, idle, wait, irq, soft, steal int64
	fmt.Sscanf(string(text), "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq, &soft, &steal)
	u.everyone = time.Duration(user+nice+system+irq+soft+steal) * 10 * time.Millisecond
	return u
}

// report reports CPU time, and the part of the machine that other programs used if it can be told: the kernel counts
// in hundredths of a second.
func (u usage) report(b *testing.B) {
	end := now()
	took, own := end.at.Sub(u.at), end.own-u.own
	if own > 0 {
		b.ReportMetric(float64(own)/float64(b.N), "cpu-ns/op")
	}
	if u.everyone > 0 && took >= 50*time.Millisecond {
		others := float64(end.everyone-u.everyone-own) / float64(took) / float64(runtime.NumCPU())
		b.ReportMetric(float64(int(100*min(max(0, others), 1))), "others-%")
	}
}

// A schedule is what the scheduler has done until now.
type schedule struct{ goroutines, threads float64 }

func scheduling() schedule {
	s := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(s)
	_, switches := own()
	out := schedule{threads: float64(switches)}
	for _, n := range s[0].Value.Float64Histogram().Counts {
		out.goroutines += 8 * float64(n) // the runtime looks at one in eight
	}
	return out
}

func (s schedule) report(b *testing.B) {
	end, n := scheduling(), float64(b.N)
	b.ReportMetric((end.goroutines-s.goroutines)/n, "scheduled/op")
	b.ReportMetric((end.threads-s.threads)/n, "switches/op")
}

// Collections returns what reports how often the collector has run since.
func Collections() (report func(*testing.B)) {
	run := func() float64 {
		s := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
		metrics.Read(s)
		return float64(s[0].Value.Uint64())
	}
	before := run()
	return func(b *testing.B) { b.ReportMetric((run()-before)/float64(b.N), "GCs/op") }
}

// peak returns by how much op raises the memory of objects and stacks at most, looking every 200 µs. Without
// collections it is all that op allocates.
func peak(op func()) float64 {
	runtime.GC()
	before := memory()
	highest, done := before, make(chan struct{})
	go func() {
		defer close(done)
		op()
	}()
	tick := time.NewTicker(200 * time.Microsecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			highest = max(highest, memory())
		case <-done:
			return float64(max(highest, memory()) - before)
		}
	}
}

// memory returns the bytes in objects and stacks.
func memory() uint64 {
	s := [...]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(s[:])
	return s[0].Value.Uint64() + s[1].Value.Uint64()
}
