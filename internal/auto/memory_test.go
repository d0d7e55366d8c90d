package auto

import (
	"runtime"
	"testing"
)

// TestRealMemoryIsShort has tasks hold more than the limit may grow to.
func TestRealMemoryIsShort(t *testing.T) {
	memoryLimited(t, 512*mib)
	var c resources
	held := make([][]byte, 46)
	for i := range held {
		held[i] = make([]byte, 10*mib)
	}
	runtime.GC()
	if !c.memoryShort() {
		t.Error("memory is not short with 460 of 512 MiB held")
	}
	if c.memoryShort() {
		t.Error("memory is short again, without a change")
	}
	runtime.KeepAlive(held)
	held = nil
	runtime.GC()
	if c.memoryShort() {
		t.Error("memory is short with nothing held")
	}
}

// TestLittleTasksInAFullProcess has a process that holds much, and garbage as much again or
// to the limit, that no collection takes: its workers need little.
func TestLittleTasksInAFullProcess(t *testing.T) {
	memoryLimited(t, 1000*mib)
	for _, kept := range []uint64{333, 500, 650} {
		for _, garbage := range []uint64{0, 10, 200, min(kept, 900-kept)} {
			littleTasks(t, kept, garbage)
		}
	}
}

// littleTasks raises the limit while a round allocates a quarter of a MiB.
func littleTasks(t *testing.T, kept, garbage uint64) {
	for _, limit := range []int{1, 4, 12, 40} {
		var u usage
		c := u.resources()
		u.collect(kept)
		u.all += float64(garbage * mib)
		for range 12 {
			limit, _ = c.room(limit, 2*limit)
			u.all += mib / 4
		}
		if limit < 256 {
			t.Errorf("%d MiB and %d of garbage: the limit is %d", kept, garbage, limit)
		}
	}
}
