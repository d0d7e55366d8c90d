package auto

import (
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"testing/fstest"
)

// TestTasksThatHoldMemory is plant 26, tasks that hold 10 MB each, with GOMEMLIMIT at
// 512 MB: the limit stays at 35 or below, wherever the search begins.
func TestTasksThatHoldMemory(t *testing.T) {
	limits(t, 512*mib, 0)
	for _, start := range []int{0, 1, 2, 16, 32} {
		runtime.GC()
		var c ceiling
		var held [][]byte
		limit, want := 0, max(start, 1)
		if start > 0 {
			limit = start // the tasks are at work when it is first asked
		}
		for range 50 {
			for len(held) < limit {
				held = append(held, make([]byte, 10*mib))
			}
			if c.pressed() {
				t.Fatalf("from %d: pressed at %d", start, limit)
			}
			limit, _ = c.room(limit, want)
			want = max(2*limit, 1)
		}
		if limit > 35 || limit < 34 {
			t.Errorf("from %d: the limit is %d", start, limit)
		}
		runtime.KeepAlive(held)
	}
}

// TestPressedByRealMemory has tasks hold more than the limit may grow to.
func TestPressedByRealMemory(t *testing.T) {
	limits(t, 512*mib, 0)
	var c ceiling
	held := make([][]byte, 46)
	for i := range held {
		held[i] = make([]byte, 10*mib)
	}
	runtime.GC()
	if !c.pressed() {
		t.Error("not pressed with 460 of 512 MiB held")
	}
	if c.pressed() {
		t.Error("pressed again, without a change")
	}
	runtime.KeepAlive(held)
	held = nil
	runtime.GC()
	if c.pressed() {
		t.Error("pressed with nothing held")
	}
}

// TestRealGarbageDoesNotHold has memory full of garbage only. The limit is a
// cgroup's and GOGC is off, so that nothing is collected before the test says.
func TestRealGarbageDoesNotHold(t *testing.T) {
	limits(t, 0, 512*mib)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	var c ceiling
	c.room(0, 16)
	for range 40 {
		garbage = make([]byte, 10*mib)
	}
	if n, why := c.room(16, 32); n != 16 || why == "" {
		t.Errorf("room(16, 32) = %d, %q; nobody knows yet that it is garbage", n, why)
	}
	garbage = nil
	for range 2 {
		runtime.GC()
		c.room(16, 32)
	}
	runtime.GC()
	room(t, &c, 16, 32, 32, "")
	if c.pressed() {
		t.Error("pressed by garbage")
	}
}

var garbage []byte // so that it is made

func TestMemoryOfGarbage(t *testing.T) {
	limits(t, 1000*mib, 0)
	var f figures
	c := f.ceiling()
	f.collect(200)
	room(t, c, 16, 32, 32, "") // 12.5 a worker at most
	f[readObjects] = 800 * mib
	room(t, c, 32, 64, 32, "memory: 800 of 700 MiB in use, 37.5 MiB a worker")
	room(t, c, 32, 64, 32, "memory: 800 of 700 MiB in use, 37.5 MiB a worker")
	f[readCycles]++ // and the collection kept 200 again
	room(t, c, 32, 64, 42, "memory: 500 of 700 MiB in use, 18.8 MiB a worker")
	f[readCycles]++
	room(t, c, 32, 64, 64, "")
	f[readCycles]++ // it has not seen 64
	room(t, c, 64, 128, 64, "memory: 800 of 700 MiB in use, 12.5 MiB a worker")
	f[readCycles]++
	room(t, c, 64, 128, 96, "memory: 500 of 700 MiB in use, 6.2 MiB a worker")
}

// TestMemoryIsNotTakenForLess has tasks that were few in a moment.
func TestMemoryIsNotTakenForLess(t *testing.T) {
	limits(t, 1000*mib, 0)
	var f figures
	c := f.ceiling()
	room(t, c, 0, 16, 16, "")
	f.collect(680)
	room(t, c, 64, 128, 65, "memory: 680 of 700 MiB in use, 10.6 MiB a worker")
	f.collect(600)
	room(t, c, 64, 128, 70, "memory: 640 of 700 MiB in use, 10.0 MiB a worker")
	f.collect(700)
	room(t, c, 64, 128, 64, "memory: 700 of 700 MiB in use, 10.9 MiB a worker")
	f[readObjects] = 900 * mib
	room(t, c, 64, 128, 64, "memory: 900 of 700 MiB in use, 14.1 MiB a worker")
	f.collect(600) // the objects between two collections are forgotten
	room(t, c, 64, 128, 68, "memory: 650 of 700 MiB in use, 10.2 MiB a worker")
}

func TestMemoryOfTheProcess(t *testing.T) {
	limits(t, 1000*mib, 0)
	var f figures
	c := f.ceiling()
	f.collect(600)
	room(t, c, 2, 4, 3, "memory: 600 of 700 MiB in use, 300.0 MiB a worker") // to see what one takes
	f.collect(601)
	room(t, c, 3, 6, 6, "")
	f.collect(604)
	room(t, c, 6, 12, 12, "")
	f.collect(660)
	room(t, c, 12, 64, 18, "memory: 660 of 700 MiB in use, 6.0 MiB a worker")
	f.collect(100) // the process gives back what it held besides: nothing is known now
	room(t, c, 12, 64, 22, "memory: 380 of 700 MiB in use, 31.7 MiB a worker")
	f.collect(100)
	room(t, c, 12, 24, 24, "")
	f.collect(420)
	room(t, c, 24, 48, 42, "memory: 420 of 700 MiB in use, 15.0 MiB a worker")
}

func TestMemoryOfACgroup(t *testing.T) {
	limits(t, 2000*mib, 1000*mib)
	var f figures
	c := f.ceiling()
	f.collect(50)
	f[readStacks] = 10 * mib
	room(t, c, 0, 16, 16, "")
	f.collect(210)
	room(t, c, 16, 32, 29, "memory: 440 of 700 MiB in use before a collection, 20.0 MiB a worker")
	f[readGOGC] = 300
	room(t, c, 16, 32, 16, "memory: 880 of 700 MiB in use before a collection, 40.0 MiB a worker")
	if !c.pressed() {
		t.Error("not pressed by a heap that will grow to 880 of 1000 MiB")
	}
	f[readGOGC] = math.MaxUint64
	if c.pressed() {
		t.Error("pressed by 220 of 1000 MiB")
	}
}

func TestPressedOnceAChange(t *testing.T) {
	limits(t, 1000*mib, 0)
	var f figures
	c := f.ceiling()
	for i, s := range []struct {
		kept    uint64
		pressed bool
	}{
		{850, false}, {860, true}, {860, false}, {850, false}, {870, false}, {880, true}, {890, false},
		{800, false}, {870, false}, // less, and no relief: the limit has not grown since
		{700, false}, {860, true},
	} {
		f.collect(s.kept)
		if got := c.pressed(); got != s.pressed {
			t.Errorf("%d: with %d MiB pressed = %v", i, s.kept, got)
		}
	}
}

func TestMemoryLimit(t *testing.T) {
	for _, s := range []struct {
		set   int64
		group uint64
		want  bound
	}{
		{0, 0, bound{}},
		{0, math.MaxInt64 &^ 4095, bound{}}, // a kernel's word for none
		{512 * mib, 0, bound{512 * mib, true}},
		{512 * mib, 600 * mib, bound{512 * mib, true}},
		{512 * mib, 512 * mib, bound{512 * mib, true}},
		{0, 600 * mib, bound{600 * mib, false}},
		{700 * mib, 600 * mib, bound{600 * mib, false}},
	} {
		limits(t, s.set, s.group)
		if got := memoryLimit(); got != s.want {
			t.Errorf("GOMEMLIMIT=%d and a cgroup with %d: %v, want %v", s.set, s.group, got, s.want)
		}
	}
}

func TestCgroupLimit(t *testing.T) {
	const none = math.MaxUint64
	v2, v1 := "sys/fs/cgroup/", "sys/fs/cgroup/memory/"
	for _, s := range []struct {
		name, groups string
		files        []string // path, text, path, text
		want         uint64
	}{
		{"nothing", "", nil, none},
		{"no files", "0::/a/b\n", nil, none},
		{"own", "0::/a/b\n", []string{v2 + "a/b/memory.max", "500\n"}, 500},
		{"parent", "0::/a/b\n", []string{v2 + "a/b/memory.max", "500\n", v2 + "a/memory.max", "400\n"}, 400},
		{"no limit", "0::/a/b\n", []string{v2 + "a/b/memory.max", "max\n", v2 + "a/memory.max", "900\n"}, 900},
		{"container", "0::/\n", []string{v2 + "memory.max", "500\n"}, 500},
		{"container of the host's names", "0::/docker/1\n", []string{v2 + "memory.max", "500\n"}, 500},
		{"outside the namespace", "0::/../b\n", []string{v2 + "memory.max", "500\n"}, 500},
		{"other group", "0::/a\n", []string{v2 + "b/memory.max", "500\n"}, none},
		{"version 1", "3:cpu,cpuacct:/a\n2:memory:/m/b\n", []string{v1 + "m/b/memory.limit_in_bytes", "500\n", v1 + "memory.limit_in_bytes", "9223372036854771712\n"}, 500},
		{"with others", "2:cpu,memory:/m\n", []string{v1 + "m/memory.limit_in_bytes", "500\n"}, 500},
		{"other controller", "2:notmemory:/m\n", []string{v1 + "m/memory.limit_in_bytes", "500\n"}, none},
		{"both", "2:memory:/m\n0::/m\n", []string{v1 + "m/memory.limit_in_bytes", "500\n", v2 + "m/memory.max", "600\n"}, 500},
		{"a colon", "0::/a:b\n", []string{v2 + "a:b/memory.max", "500\n"}, 500},
		{"no path", "0\n0:\n", []string{v2 + "memory.max", "500\n"}, none},
		{"no number", "0::/\n", []string{v2 + "memory.max", "-1\n"}, none},
	} {
		root := fstest.MapFS{}
		for pair := range slices.Chunk(s.files, 2) {
			root[pair[0]] = &fstest.MapFile{Data: []byte(pair[1])}
		}
		if got := cgroupLimit(s.groups, root); got != s.want {
			t.Errorf("%s: %d, want %d", s.name, got, s.want)
		}
	}
}

func TestCgroupIsReadOnce(t *testing.T) {
	old := cgroup.Swap(0)
	defer cgroup.Store(old)
	memoryLimit()
	if got, want := cgroup.Load(), readCgroup(); got != want {
		t.Errorf("cgroup = %d, want %d", got, want)
	}
}
