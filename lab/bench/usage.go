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

// per returns what reports, for each op, by how much a count has risen since.
func per(unit string, count func() float64) (report func(*testing.B)) {
	before := count()
	return func(b *testing.B) { b.ReportMetric((count()-before)/float64(b.N), unit) }
}

// switches returns how often threads were switched until now.
func switches() float64 {
	_, n := own()
	return float64(n)
}

// scheduled returns how often goroutines were: the runtime looks at one in eight.
func scheduled() (n float64) {
	for _, count := range read("/sched/latencies:seconds").Float64Histogram().Counts {
		n += 8 * float64(count)
	}
	return n
}

// Collections returns what reports how often the collector has run since.
func Collections() (report func(*testing.B)) {
	return per("GCs/op", func() float64 { return float64(read("/gc/cycles/total:gc-cycles").Uint64()) })
}

func read(name string) metrics.Value {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	return s[0].Value
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
