package auto

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// tree writes files below a new root, which it returns.
func tree(t *testing.T, files map[string]string) (root string) {
	root = t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestCgroups(t *testing.T) {
	const (
		self    = "proc/self/cgroup"
		v1      = "sys/fs/cgroup/memory/"
		v2      = "sys/fs/cgroup/"
		current = "memory.current"
		top     = "memory.max"
		usage1  = "memory.usage_in_bytes"
		limit1  = "memory.limit_in_bytes"
		stat    = "memory.stat"
		stat2   = "anon 300\nfile 130\ninactive_file 100\nactive_file 20\nslab_reclaimable 5\nslab 50\n"
		stat1   = "cache 9\ninactive_file 7\nactive_file 7\ntotal_inactive_file 100\ntotal_active_file 20\n"
	)
	for name, s := range map[string]struct {
		files map[string]string
		want  groupUse
	}{
		"no files":           {nil, groupUse{}},
		"empty":              {map[string]string{self: ""}, groupUse{}},
		"no memory":          {map[string]string{self: "5:cpu,cpuacct:/a\n1:name=systemd:/\n"}, groupUse{}},
		"not a line":         {map[string]string{self: "0\n:\n", v2 + top: "1000\n", v2 + current: "1\n"}, groupUse{}},
		"only a path":        {map[string]string{self: "0::/a\n"}, groupUse{}},
		"container":          {map[string]string{self: "0::/\n", v2 + top: "1000\n", v2 + current: "500\n", v2 + stat: stat2}, groupUse{375, 1000}},
		"no stat":            {map[string]string{self: "0::/\n", v2 + top: "1000\n", v2 + current: "500\n"}, groupUse{500, 1000}},
		"more cache":         {map[string]string{self: "0::/\n", v2 + top: "1000\n", v2 + current: "50\n", v2 + stat: stat2}, groupUse{0, 1000}},
		"max":                {map[string]string{self: "0::/\n", v2 + top: "max\n", v2 + current: "500\n"}, groupUse{}},
		"no current":         {map[string]string{self: "0::/\n", v2 + top: "1000\n"}, groupUse{}},
		"garbled":            {map[string]string{self: "0::/\n", v2 + top: "NaN\n", v2 + current: "500\n"}, groupUse{}},
		"negative":           {map[string]string{self: "0::/\n", v2 + top: "-1\n", v2 + current: "500\n"}, groupUse{}},
		"no newline, colons": {map[string]string{self: "0::/a:b", v2 + "a:b/" + top: "1000", v2 + "a:b/" + current: "500"}, groupUse{500, 1000}},
		"nested": {map[string]string{self: "0::/a/b\n", v2 + "a/b/" + top: "max\n", v2 + "a/b/" + current: "5\n",
			v2 + "a/" + top: "1000\n", v2 + "a/" + current: "500\n"}, groupUse{500, 1000}},
		"nearest above": {map[string]string{self: "0::/a/b\n", v2 + "a/b/" + top: "800\n", v2 + "a/b/" + current: "100\n",
			v2 + "a/" + top: "1000\n", v2 + "a/" + current: "950\n"}, groupUse{950, 1000}},
		"nearest below": {map[string]string{self: "0::/a/b\n", v2 + "a/b/" + top: "800\n", v2 + "a/b/" + current: "700\n",
			v2 + "a/" + top: "1000\n", v2 + "a/" + current: "750\n"}, groupUse{700, 800}},
		"path outside": {map[string]string{self: "0::/../../a\n", v2 + top: "1000\n", v2 + current: "500\n"}, groupUse{500, 1000}},
		"version 1": {map[string]string{self: "9:cpu:/x\n4:memory:/a\n0::/\n", v1 + "a/" + limit1: "1000\n", v1 + "a/" + usage1: "500\n",
			v1 + "a/" + stat: stat1, v1 + limit1: "9223372036854771712\n", v1 + usage1: "600\n"}, groupUse{380, 1000}},
		"version 1, controllers": {map[string]string{self: "4:cpu,memory:/\n", v1 + limit1: "1000\n", v1 + usage1: "500\n"}, groupUse{500, 1000}},
		"version 1, container": {map[string]string{self: "4:memory:/docker/1234\n0::/docker/1234\n",
			v1 + limit1: "1000\n", v1 + usage1: "500\n"}, groupUse{500, 1000}},
		"version 1, no limit": {map[string]string{self: "4:memory:/\n", v1 + limit1: "9223372036854771712\n", v1 + usage1: "600\n"}, groupUse{}},
	} {
		if got := nearest(findGroups(tree(t, s.files))); got != s.want {
			t.Errorf("%s: %v, want %v", name, got, s.want)
		}
	}
}

// TestCgroupOfTheProcess reads the cgroups of this machine, whatever they are.
func TestCgroupOfTheProcess(t *testing.T) {
	if use := processGroup(); use.used < 0 || use.limit < 0 || use.limit == 0 && use.used != 0 {
		t.Error(use)
	}
}

// container returns resources in a cgroup of 1,000 MiB.
func container(u *usage) *resources {
	u.group.limit = 1000 * mib
	return u.resources()
}

// hold has the heap hold so many MiB, all live, beside others in the cgroup.
func (u *usage) hold(live, others uint64) {
	u.collect(live)
	u.group.used = float64((live + others) * mib)
}

func TestMemoryOfTheCgroup(t *testing.T) {
	for _, s := range []struct {
		name                  string
		memoryLimit           int64
		percent               float64
		live, others, garbage uint64
		n                     int // of room(10, 20), 20: all
		short                 bool
	}{
		{"little", 0, 100, 10, 10, 0, 20, false},
		{"a third", 0, 100, 333, 0, 0, 12, false}, // garbage may double it; two workers tell
		{"a half", 0, 100, 480, 0, 0, 10, true},
		{"others", 0, 100, 10, 800, 0, 12, false},
		{"too many others", 0, 100, 10, 850, 0, 10, false},
		{"others take all", 0, 100, 10, 950, 0, 10, true},
		{"garbage of before", 0, 100, 200, 0, 200, 12, false},
		{"much of the heap as garbage", 0, 300, 200, 0, 0, 12, false},
		{"too much of it", 0, 400, 200, 0, 0, 10, true},
		{"GOMEMLIMIT keeps garbage away", 900 * mib, 300, 400, 10, 0, 12, false},
		{"no collector", 0, math.Inf(1), 100, 0, 0, 20, false},
		{"no collector, and garbage", 0, math.Inf(1), 100, 0, 860, 10, true},
		{"GOMEMLIMIT instead of GOGC", 900 * mib, math.Inf(1), 100, 20, 700, 12, false},
		{"and others beside it", 900 * mib, math.Inf(1), 100, 60, 0, 10, false},
		{"and too many", 900 * mib, math.Inf(1), 100, 90, 0, 10, true},
	} {
		t.Run(s.name, func(t *testing.T) {
			memoryLimited(t, s.memoryLimit)
			u := usage{percent: s.percent}
			u.hold(s.live, s.others)
			u.all += float64(s.garbage * mib)
			u.group.used += float64(s.garbage * mib)
			c := container(&u)
			if n, why := c.room(10, 20); n != s.n || (why == "") != (n == 20) {
				t.Errorf("room(10, 20) = %d, %q; want %d", n, why, s.n)
			}
			if short := c.memoryShort(); short != s.short || c.memoryShort() {
				t.Errorf("memoryShort = %v, or twice", short)
			}
		})
	}
}

// TestFreeHeapIsNotOthers has the runtime hold memory without objects.
func TestFreeHeapIsNotOthers(t *testing.T) {
	memoryLimited(t, 0)
	u := usage{percent: 100, idle: 800 * mib}
	u.hold(10, 850)
	room(t, container(&u), 10, 20, 20, "")
}

// TestTasksBesideTheHeap has tasks that hold 10 MiB each that is not Go's, in a cgroup of 1,000 MiB.
func TestTasksBesideTheHeap(t *testing.T) {
	memoryLimited(t, 0)
	for _, start := range []int{1, 2, 12, 64} {
		u := usage{percent: 100}
		c := container(&u)
		limit := start
		for range 50 {
			u.hold(5, uint64(100+10*limit))
			if c.memoryShort() {
				t.Fatalf("from %d: memory is short at %d", start, limit)
			}
			limit, _ = c.room(limit, 2*limit)
		}
		if limit < 73 || limit > 74 {
			t.Errorf("from %d: the limit is %d", start, limit)
		}
	}
}

// TestTasksInTheCgroup has tasks that hold 10 MiB of Go's each, which GOGC doubles.
func TestTasksInTheCgroup(t *testing.T) {
	memoryLimited(t, 0)
	for _, start := range []int{1, 2, 12, 32} {
		u := usage{percent: 100}
		c := container(&u)
		limit := start
		for range 50 {
			u.hold(uint64(100+10*limit), 0)
			limit, _ = c.room(limit, 2*limit)
		}
		if limit < 32 || limit > 33 {
			t.Errorf("from %d: the limit is %d", start, limit)
		}
	}
}

func BenchmarkCgroup(b *testing.B) {
	b.Run("read again", func(b *testing.B) {
		for b.Loop() {
			processGroup()
		}
	})
	b.Run("find", func(b *testing.B) {
		for b.Loop() {
			findGroups("/")
		}
	})
	_, dir := groupOf(func() string { text, _ := os.ReadFile("/proc/self/cgroup"); return string(text) }())
	kind, _ := groupOf("4:memory:/\n")
	at := filepath.Join("/", kind.mount, dir)
	if _, err := os.Stat(at); err != nil {
		b.Skip("no cgroup of version 1")
	}
	b.Run("nearest", func(b *testing.B) {
		groups := []groupFile{{at, kind, 1 << 40}}
		for b.Loop() {
			nearest(groups)
		}
	})
}
