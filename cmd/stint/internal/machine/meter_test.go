package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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

func BenchmarkMemory(b *testing.B) {
	m := NewMeter()
	defer m.Close()
	b.ReportAllocs()
	for b.Loop() {
		m.Memory()
	}
}
