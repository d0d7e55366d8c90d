package auto

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestTasksThatHoldMemory has tasks that hold 10 MB each, with GOMEMLIMIT at 512 MB: the
// limit stays at 35 or below, wherever the search starts.
func TestTasksThatHoldMemory(t *testing.T) {
	memoryLimited(t, 512*mib)
	for _, start := range []int{1, 2, 16, 32} {
		runtime.GC()
		var c resources
		var held [][]byte
		limit := start
		for range 50 {
			for len(held) < limit {
				held = append(held, make([]byte, 10*mib))
			}
			if c.memoryShort() {
				t.Fatalf("from %d: memory is short at %d", start, limit)
			}
			limit, _ = c.room(limit, 2*limit)
		}
		if limit > 35 || limit < 34 {
			t.Errorf("from %d: the limit is %d", start, limit)
		}
		runtime.KeepAlive(held)
	}
}

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

// TestRealGarbageDoesNotHold has memory full of garbage only. GOGC is off, so that little is
// collected before the test says. GOMEMLIMIT may still start a collection, as early as at 0.7
// of it, which is where room begins to see garbage: then the test begins again.
func TestRealGarbageDoesNotHold(t *testing.T) {
	memoryLimited(t, 512*mib)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var c resources
	for try := 1; ; try++ {
		runtime.GC()
		c = resources{}
		c.room(1, 16)
		before := c.usage().collections
		for range 40 {
			garbage = make([]byte, 10*mib)
		}
		n, why := c.room(16, 32)
		if n == 16 && why != "" {
			break
		}
		if c.usage().collections == before || try == 50 {
			t.Fatalf("room(16, 32) = %d, %q; it is not known yet to be garbage", n, why)
		}
	}
	garbage = nil
	runtime.GC()
	room(t, &c, 16, 32, 32, "")
	if c.memoryShort() {
		t.Error("memory is short by garbage")
	}
}

var garbage []byte // so that it is made

func TestMemoryOfGarbage(t *testing.T) {
	memoryLimited(t, 1000*mib)
	var u usage
	c := u.resources()
	u.collect(200)
	room(t, c, 16, 32, 32, "") // 12.5 a worker at most
	u.all = 800 * mib
	room(t, c, 32, 64, 32, "memory: 800 of 700 MiB in use, 37.5 MiB a worker")
	room(t, c, 32, 64, 32, "memory: 800 of 700 MiB in use, 37.5 MiB a worker")
	u.collections++ // and the collection kept 200 again
	room(t, c, 32, 64, 64, "")
	room(t, c, 64, 128, 64, "memory: 800 of 700 MiB in use, 18.8 MiB a worker") // no collection has seen 64 workers
	u.collections++
	room(t, c, 64, 128, 128, "")
}

// TestMemoryIsWhatCollectionsKeep has tasks of which some hold memory at a time.
func TestMemoryIsWhatCollectionsKeep(t *testing.T) {
	memoryLimited(t, 1000*mib)
	var u usage
	c := u.resources()
	u.collect(680)
	room(t, c, 64, 128, 65, "memory: 680 of 700 MiB in use, 10.6 MiB a worker")
	u.collect(600)
	room(t, c, 64, 128, 74, "memory: 600 of 700 MiB in use, 9.4 MiB a worker")
	u.collect(700)
	room(t, c, 64, 128, 64, "memory: 700 of 700 MiB in use, 10.9 MiB a worker")
	u.all = 900 * mib
	room(t, c, 64, 128, 64, "memory: 700 of 700 MiB in use, 10.9 MiB a worker")
	room(t, c, 65, 128, 65, "memory: 900 of 700 MiB in use, 200.0 MiB a worker")
}

func TestMemoryOfTheProcess(t *testing.T) {
	memoryLimited(t, 1000*mib)
	var u usage
	c := u.resources()
	u.collect(600)
	room(t, c, 2, 4, 3, "memory: 600 of 700 MiB in use, 300.0 MiB a worker") // one more worker tells
	u.collect(601)
	room(t, c, 3, 6, 6, "")
	u.collect(604)
	room(t, c, 6, 12, 12, "")
	u.collect(660)
	room(t, c, 12, 64, 18, "memory: 660 of 700 MiB in use, 6.0 MiB a worker")
	u.collect(100) // the process frees what it held besides
	room(t, c, 12, 64, 64, "")
	u.collect(420)
	room(t, c, 24, 48, 34, "memory: 420 of 700 MiB in use, 26.7 MiB a worker")
}

func TestMemoryIsShortOnceAChange(t *testing.T) {
	memoryLimited(t, 1000*mib)
	var u usage
	c := u.resources()
	for i, s := range []struct {
		kept  uint64
		short bool
	}{
		{850, false}, {860, true}, {860, false}, {850, false}, {870, false}, {880, true}, {890, false},
		{800, false}, {870, false}, // less, but not enough
		{700, false}, {860, true},
	} {
		u.collect(s.kept)
		if got := c.memoryShort(); got != s.short {
			t.Errorf("%d: with %d MiB memoryShort = %v", i, s.kept, got)
		}
	}
}

// TestLittleTasksInAFullProcess has a process that holds much, and garbage as much again or
// to the limit, that no collection takes: its workers need little.
func TestLittleTasksInAFullProcess(t *testing.T) {
	memoryLimited(t, 1000*mib)
	for _, kept := range []uint64{333, 500, 650} {
		for _, garbage := range []uint64{0, 10, 200, min(kept, 900-kept)} {
			for _, start := range []int{1, 4, 12, 40} {
				var u usage
				c := u.resources()
				u.collect(kept)
				u.all += float64(garbage * mib)
				limit := start
				for range 12 {
					limit, _ = c.room(limit, 2*limit)
					u.all += mib / 4 // allocated in a round
				}
				if limit < 256 {
					t.Errorf("%d MiB and %d of garbage, from %d: the limit is %d", kept, garbage, start, limit)
				}
			}
		}
	}
}

// TestAFullProcessStaysFull has a process that holds 0.6 of its memory, and tasks of 10 MiB.
func TestAFullProcessStaysFull(t *testing.T) {
	memoryLimited(t, 1000*mib)
	for _, start := range []int{1, 4, 12, 40} {
		for _, collects := range []bool{false, true} {
			var u usage
			c := u.resources()
			u.collect(min(600, 560+10*uint64(start)))
			limit := start
			for range 20 {
				u.all = max(u.all, float64(600-40+10*uint64(limit))*mib)
				if collects {
					u.collect(600 - 40 + 10*uint64(limit))
				}
				limit, _ = c.room(limit, 2*limit)
			}
			if limit > max(14, start+2) {
				t.Errorf("from %d, collecting %v: the limit is %d", start, collects, limit)
			}
		}
	}
}
