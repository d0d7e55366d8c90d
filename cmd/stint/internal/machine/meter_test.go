package machine

import (
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
		must(t, os.MkdirAll(filepath.Dir(name), 0o777))
		must(t, os.WriteFile(name, []byte(text), 0o666))
	}
	return root
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const (
	meminfo = "MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    600 kB\nBuffers:           2 kB\n"
	stat2   = "anon 1\nfile 9\ninactive_file 1000\nactive_file 200\nslab_reclaimable 30\nslab_unreclaimable 9\n"
	events  = "low 1\noom 4\noom_kill 5\noom_group_kill 6\n"
)

// meterCases are trees of files below sys/fs/cgroup; meminfo is added, and proc/self/cgroup.
var meterCases = []struct {
	name, cgroup     string
	files            map[string]string
	available, total int64   // 0: those of the machine
	quota            float64 // 0: none
	kills            int64
}{
	{name: "machine"},
	{"own", "0::/a/b\n", map[string]string{"a/b/memory.max": "300000\n", "a/b/memory.high": "max\n", "a/b/memory.current": "101230\n", "a/b/memory.stat": stat2, "a/b/cpu.max": "20000 100000\n", "a/cpu.max": "max 100000\n",
		"a/b/memory.events": events, "a/memory.events": "oom_kill 9\n"}, 200000, 300000, 0.2, 5},
	{"high", "0::/a/b\n", map[string]string{"a/b/memory.max": "300000\n", "a/b/memory.high": "200000\n", "a/b/memory.current": "50000\n"}, 150000, 200000, 0, 0},
	{"above", "0::/a/b\n", map[string]string{"a/b/memory.max": "300000\n", "a/b/memory.current": "0\n", "a/memory.max": "400000\n", "a/memory.current": "390000\n", "memory.stat": "",
		"a/b/cpu.max": "30000 10000\n", "a/cpu.max": "50000 20000\n"}, 10000, 400000, 2.5, 0},
	{"all cache", "0::/a/b\n", map[string]string{"a/b/memory.max": "300000\n", "a/b/memory.current": "100\n", "a/b/memory.stat": stat2}, 300000, 300000, 0, 0},
	{"machine has less", "0::/a/b\n", map[string]string{"a/b/memory.max": "3000000\n", "a/b/memory.current": "0\n"}, 0, 0, 0, 0},
	{"no limit", "0::/a/b\n", map[string]string{"a/b/memory.max": "max\n", "a/b/memory.current": "100\n", "a/b/cpu.max": "max 100000\n"}, 0, 0, 0, 0},
	{"no usage", "0::/a/b\n", map[string]string{"a/b/memory.max": "1\n"}, 0, 0, 0, 0},
	{"path outside the container", "0::/../../c\n", map[string]string{"memory.max": "5000\n", "memory.current": "1000\n", "cpu.max": "70000 100000\n", "memory.events": "oom_kill 7\n"}, 4000, 5000, 0.7, 7},
	{"memory of version 1", "5:cpuset,memory:/d\n1:name=systemd:/x\n0::/a/b\n", map[string]string{"memory/d/memory.limit_in_bytes": "5000\n", "memory/d/memory.usage_in_bytes": "4000\n",
		"memory/d/memory.stat": "inactive_file 7\ntotal_inactive_file 600\ntotal_active_file 10\n", "memory/memory.limit_in_bytes": "9223372036854771712\n", "memory/memory.usage_in_bytes": "1\n", "a/b/memory.max": "1\n",
		"memory/d/memory.oom_control": "under_oom 0\noom_kill 6\n", "a/b/cpu.max": "10000 100000\n"}, 1610, 5000, 0.1, 6},
	{"nonsense", "\n0:\n:::\n0::/a/b\n", map[string]string{"a/b/memory.max": "-\n\n", "a/b/memory.current": "x", "a/b/cpu.max": "x\n", "a/cpu.max": "0 0\n"}, 0, 0, 0, 0},
}

func TestMeter(t *testing.T) {
	for _, c := range meterCases {
		files := map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": c.cgroup}
		for name, text := range c.files {
			files["sys/fs/cgroup/"+name] = text
		}
		want := Memory{600 << 10, 1000 << 10, "memory"}
		if c.total > 0 {
			want = Memory{c.available, c.total, "memory of the cgroup"}
		}
		root := write(t, files)
		m := newMeter(root)
		got, ok := m.Memory()
		if kills := m.Kills(); got != want || !ok || kills != c.kills {
			t.Errorf("%s: %+v, %v, %d kills, want %+v", c.name, got, ok, kills, want)
		}
		if got := m.quota(); got != c.quota && (c.quota > 0 || !math.IsInf(got, 1)) {
			t.Errorf("%s: quota %v, want %v", c.name, got, c.quota)
		}
		for name := range files {
			if strings.HasSuffix(name, "cpu.max") {
				must(t, os.WriteFile(filepath.Join(root, name), []byte("9000 100000\n"), 0o666))
				if got := m.quota(); got != 0.09 {
					t.Errorf("%s, changed: quota %v", c.name, got)
				}
			}
		}
	}
}

func TestMemoryIsNotTold(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"no file": nil, "old kernel": {"proc/meminfo": "MemTotal: 1000 kB\n"}, "nonsense": {"proc/meminfo": "MemAvailable: x kB\n"},
	} {
		if got, ok := newMeter(write(t, files)).Memory(); ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestMemoryOfThisMachine(t *testing.T) {
	got, ok := NewMeter().Memory()
	if ok != (runtime.GOOS == "linux") {
		t.Fatalf("ok is %v", ok)
	}
	if ok && (got.Available <= 0 || got.Available > got.Total || got.Bound == "") {
		t.Errorf("%+v", got)
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

func BenchmarkMemory(b *testing.B) {
	for m := NewMeter(); b.Loop(); {
		m.Memory()
	}
}
