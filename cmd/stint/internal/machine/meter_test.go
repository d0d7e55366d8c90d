package machine

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// write writes files below a new directory, and returns it.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const (
	meminfo = "MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    600 kB\nBuffers:           2 kB\n"
	own     = "sys/fs/cgroup/a/b/"
	above   = "sys/fs/cgroup/a/"
	v1      = "sys/fs/cgroup/memory/"
	stat2   = "anon 1\nfile 9\ninactive_file 1000\nactive_file 200\nslab_reclaimable 30\nslab_unreclaimable 9\n"
)

// meterCases are trees of files; meminfo is added, and proc/self/cgroup.
var meterCases = []struct {
	name, cgroup string
	files        map[string]string
	want         Memory
}{
	{"machine", "", nil, Memory{600 << 10, 1000 << 10, "memory"}},
	{"own", "0::/a/b\n", map[string]string{own + "memory.max": "300000\n", own + "memory.high": "max\n", own + "memory.current": "101230\n", own + "memory.stat": stat2},
		Memory{200000, 300000, "memory of the cgroup"}},
	{"high", "0::/a/b\n", map[string]string{own + "memory.max": "300000\n", own + "memory.high": "200000\n", own + "memory.current": "50000\n"},
		Memory{150000, 200000, "memory of the cgroup"}},
	{"above", "0::/a/b\n", map[string]string{own + "memory.max": "300000\n", own + "memory.current": "0\n", above + "memory.max": "400000\n", above + "memory.current": "390000\n", "sys/fs/cgroup/memory.stat": ""},
		Memory{10000, 400000, "memory of the cgroup"}},
	{"all cache", "0::/a/b\n", map[string]string{own + "memory.max": "300000\n", own + "memory.current": "100\n", own + "memory.stat": stat2},
		Memory{300000, 300000, "memory of the cgroup"}},
	{"over the limit", "0::/a/b\n", map[string]string{own + "memory.max": "0\n", own + "memory.current": "100\n"},
		Memory{0, 0, "memory of the cgroup"}},
	{"machine has less", "0::/a/b\n", map[string]string{own + "memory.max": "3000000\n", own + "memory.current": "0\n"},
		Memory{600 << 10, 1000 << 10, "memory"}},
	{"no limit", "0::/a/b\n", map[string]string{own + "memory.max": "max\n", own + "memory.current": "100\n"},
		Memory{600 << 10, 1000 << 10, "memory"}},
	{"no usage", "0::/a/b\n", map[string]string{own + "memory.max": "1\n"},
		Memory{600 << 10, 1000 << 10, "memory"}},
	{"path outside the container", "0::/../../c\n", map[string]string{"sys/fs/cgroup/memory.max": "5000\n", "sys/fs/cgroup/memory.current": "1000\n"},
		Memory{4000, 5000, "memory of the cgroup"}},
	{"version 1", "5:cpu,memory:/d\n1:name=systemd:/x\n0::/a/b\n", map[string]string{v1 + "d/memory.limit_in_bytes": "5000\n", v1 + "d/memory.usage_in_bytes": "4000\n",
		v1 + "d/memory.stat": "inactive_file 7\ntotal_inactive_file 600\ntotal_active_file 10\n", v1 + "memory.limit_in_bytes": "9223372036854771712\n", v1 + "memory.usage_in_bytes": "1\n", own + "memory.max": "1\n"},
		Memory{1610, 5000, "memory of the cgroup"}},
	{"nonsense", "\n0:\n:::\n0::/a/b\n", map[string]string{own + "memory.max": "-\n\n", own + "memory.current": "x"},
		Memory{600 << 10, 1000 << 10, "memory"}},
}

func TestMemory(t *testing.T) {
	for _, c := range meterCases {
		files := map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": c.cgroup}
		for name, text := range c.files {
			files[name] = text
		}
		m := newMeter(write(t, files))
		if got, ok := m.Memory(); got != c.want || !ok {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, ok, c.want)
		}
		if err := m.Close(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestMemoryIsReadAgain changes the files that a meter has open.
func TestMemoryIsReadAgain(t *testing.T) {
	root := write(t, map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n", own + "memory.max": "max\n", own + "memory.current": "1000\n"})
	m := newMeter(root)
	defer m.Close()
	for _, limit := range []int64{5000, 90000, 7000} {
		if err := os.WriteFile(filepath.Join(root, own, "memory.max"), fmt.Appendln(nil, limit), 0o666); err != nil {
			t.Fatal(err)
		}
		if got, _ := m.Memory(); got.Total != limit || got.Available != limit-1000 {
			t.Errorf("%+v with limit %d", got, limit)
		}
	}
}

func TestMemoryIsNotTold(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"no file": nil, "old kernel": {"proc/meminfo": "MemTotal: 1000 kB\n"}, "nonsense": {"proc/meminfo": "MemAvailable: x kB\n"},
	} {
		m := newMeter(write(t, files))
		if got, ok := m.Memory(); ok {
			t.Errorf("%s: %+v", name, got)
		}
		m.Close()
	}
}

func TestMemoryOfThisMachine(t *testing.T) {
	m := NewMeter()
	defer m.Close()
	got, ok := m.Memory()
	if ok != (runtime.GOOS == "linux") {
		t.Fatalf("ok is %v", ok)
	}
	if ok && (got.Available <= 0 || got.Available > got.Total || got.Bound == "") {
		t.Errorf("%+v", got)
	}
	if n := testing.AllocsPerRun(10, func() { m.Memory() }); n > 0 {
		t.Errorf("%v allocations a reading", n)
	}
}

func TestCPUs(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for set, want := range map[int]int{1: 1, runtime.NumCPU(): runtime.NumCPU(), runtime.NumCPU() + 1: runtime.NumCPU()} {
		runtime.GOMAXPROCS(set)
		if got := CPUs(); got != want {
			t.Errorf("CPUs() = %d with GOMAXPROCS %d, want %d", got, set, want)
		}
	}
}

// quotaCases are trees of files.
var quotaCases = []struct {
	name, cgroup string
	files        map[string]string
	want         float64 // 0: none
}{
	{"none", "", nil, 0},
	{"no limit", "0::/a/b\n", map[string]string{own + "cpu.max": "max 100000\n"}, 0},
	{"own", "0::/a/b\n", map[string]string{own + "cpu.max": "20000 100000\n", above + "cpu.max": "max 100000\n"}, 0.2},
	{"above", "0::/a/b\n", map[string]string{own + "cpu.max": "max 100000\n", above + "cpu.max": "150000 100000\n"}, 1.5},
	{"the least", "0::/a/b/c\n", map[string]string{own + "c/cpu.max": "300000 100000\n", own + "cpu.max": "50000 100000\n", above + "cpu.max": "200000 100000\n"}, 0.5},
	{"other periods", "0::/a/b\n", map[string]string{own + "cpu.max": "30000 10000\n", above + "cpu.max": "50000 20000\n"}, 2.5},
	{"path outside the container", "0::/../../c\n", map[string]string{"sys/fs/cgroup/cpu.max": "70000 100000\n"}, 0.7},
	{"version 1", "4:memory:/m\n3:cpu,cpuacct:/d/e\n0::/a/b\n", map[string]string{
		"sys/fs/cgroup/cpu/d/e/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu/d/e/cpu.cfs_period_us": "100000\n",
		"sys/fs/cgroup/cpu/d/cpu.cfs_quota_us": "60000\n", "sys/fs/cgroup/cpu/d/cpu.cfs_period_us": "50000\n",
		"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", own + "cpu.max": "10000 100000\n"}, 1.2},
	{"only memory is of version 1", "0::/a/b\n4:memory:/m\n", map[string]string{own + "cpu.max": "10000 100000\n"}, 0.1},
	{"nonsense", "0::/a/b\n", map[string]string{own + "cpu.max": "x\n", above + "cpu.max": "0 0\n"}, 0},
}

// TestQuota has the least quota of all cgroups above, also when it changes.
func TestQuota(t *testing.T) {
	for _, c := range quotaCases {
		c.files = maps.Clone(c.files)
		if c.files == nil {
			c.files = map[string]string{}
		}
		c.files["proc/self/cgroup"] = c.cgroup
		root := write(t, c.files)
		m := newMeter(root)
		want := c.want
		if want == 0 {
			want = math.Inf(1)
		}
		if got := m.quota(); got != want {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
		for name := range c.files {
			if strings.HasSuffix(name, "cpu.max") && want < 1 && !strings.HasPrefix(c.cgroup, "4") {
				must(t, os.WriteFile(filepath.Join(root, name), []byte("9000 100000\n"), 0o666))
				want = 0.09
			}
		}
		if got := m.quota(); got != want {
			t.Errorf("%s, changed: %v, want %v", c.name, got, want)
		}
		must(t, m.Close())
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestKills reads the count of the cgroup, or that of the system.
func TestKills(t *testing.T) {
	for _, c := range []struct {
		name, cgroup string
		files        map[string]string
		want         int64
	}{
		{"none", "", nil, 0},
		{"own", "0::/a/b\n", map[string]string{own + "memory.events": "low 1\nhigh 2\nmax 3\noom 4\noom_kill 5\noom_group_kill 6\n", above + "memory.events": "oom_kill 9\n"}, 5},
		{"path outside the container", "0::/../x\n", map[string]string{"sys/fs/cgroup/memory.events": "oom_kill 7\n"}, 7},
		{"version 1", "4:memory:/d\n", map[string]string{v1 + "d/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 6\n"}, 6},
		{"root", "0::/\n", map[string]string{"proc/vmstat": "nr_free_pages 3\noom_kill 8\n"}, 0}, // those of the whole system may be of anybody
	} {
		files := map[string]string{"proc/self/cgroup": c.cgroup}
		maps.Copy(files, c.files)
		m := newMeter(write(t, files))
		if got := m.Kills(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
		must(t, m.Close())
	}
}

func BenchmarkMemory(b *testing.B) {
	m := NewMeter()
	defer m.Close()
	b.ReportAllocs()
	for b.Loop() {
		m.Memory()
	}
}
