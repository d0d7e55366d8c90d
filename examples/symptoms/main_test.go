package main

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// results runs the programs of a symptom in virtual time, with n tasks.
func results(t *testing.T, name string, n int) (before, after map[string]any) {
	s := symptoms[slices.IndexFunc(symptoms, func(s symptom) bool { return s.name == name })]
	all := []map[string]any{{}, {}}
	for i, p := range []program{s.before, s.after} {
		synctest.Test(t, func(t *testing.T) {
			one := &trial{n: n, goroutines: io.Discard}
			if err := one.measure(p); err != nil {
				t.Error(err)
			}
			for _, f := range one.figures {
				all[i][f.name] = f.value
			}
		})
	}
	return all[0], all[1]
}

func TestChannels(t *testing.T) {
	if before, after := results(t, "channels", 1000); before["sum"] != after["sum"] {
		t.Errorf("sums %v and %v", before["sum"], after["sum"])
	}
}

func TestWorkers(t *testing.T) {
	before, after := results(t, "workers", 100)
	if before["values counted"] != 1_600_000 || after["values counted"] != 1_600_000 {
		t.Errorf("counted %v and %v values", before["values counted"], after["values counted"])
	}
	if before["tables"] != 512 || after["tables"].(int) > runtime.GOMAXPROCS(0) {
		t.Errorf("%v tables and %v, want 512 and at most one for each CPU", before["tables"], after["tables"])
	}
}

// All pages are in memory at once, and then as many as the budget has room for.
func TestMemory(t *testing.T) {
	const most = "bytes of pages at once"
	before, after := results(t, "memory", 2000)
	if before[most] != int64(2000*16<<10) || after[most] != int64(16<<20) {
		t.Errorf("%v bytes at once, and %v", before[most], after[most])
	}
	if before["time"] != 100*time.Millisecond || after["time"] != 200*time.Millisecond {
		t.Errorf("took %v and %v", before["time"], after["time"])
	}
}

// A lookup waits for the reports, and then for nothing.
func TestLatency(t *testing.T) {
	const p99 = "p99 of the lookups"
	before, after := results(t, "latency", 200)
	if before[p99] != 102*time.Millisecond || after[p99] != 2*time.Millisecond {
		t.Errorf("p99 %v and %v", before[p99], after[p99])
	}
}

// A task waits for one of a few workers, and then for none.
func TestIdle(t *testing.T) {
	before, after := results(t, "idle", 400)
	cpus := runtime.GOMAXPROCS(0)
	if want := time.Duration((400+cpus-1)/cpus) * 10 * time.Millisecond; before["time"] != want || before["limit"] != cpus {
		t.Errorf("took %v at a limit of %v, want %v at %d", before["time"], before["limit"], want, cpus)
	}
	if after["time"].(time.Duration) > 100*time.Millisecond {
		t.Errorf("took %v at a limit of %v", after["time"], after["limit"])
	}
}

// Queries take a second over four connections, at any limit.
func TestLimit(t *testing.T) {
	before, after := results(t, "limit", 2000)
	if before["time"].(time.Duration) < time.Second || after["time"].(time.Duration) > time.Second/4 {
		t.Errorf("took %v and %v", before["time"], after["time"])
	}
	if before["limit"].(int) > 42 || after["limit"].(int) < 64 {
		t.Errorf("limits %v and %v", before["limit"], after["limit"])
	}
}

func TestRun(t *testing.T) {
	file := func(name string) string { return filepath.Join(t.TempDir(), name) }
	cpu, events, goroutines := file("cpu"), file("trace"), file("goroutines")
	var out strings.Builder
	if err := run([]string{"-cpuprofile", cpu, "-trace", events, "-goroutines", goroutines, "idle", "after"}, &out); err != nil {
		t.Error(err)
	}
	if !strings.HasPrefix(out.String(), "idle, after, 400 tasks\n  limit") || !strings.Contains(out.String(), "\nPOOL  LIMIT ") {
		t.Errorf("printed\n%s", &out)
	}
	for _, name := range []string{cpu, events, goroutines} {
		if info, err := os.Stat(name); err != nil || info.Size() == 0 {
			t.Errorf("%v: %v", info, err)
		}
	}
	for _, args := range [][]string{{}, {"none"}, {"idle", "twice"}, {"-trace", file("none") + "/trace", "idle"}} {
		if err := run(args, &out); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
