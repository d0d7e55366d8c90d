package machine

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// statOf returns a /proc/PID/stat. Times are in ticks, rss is in pages.
func statOf(name string, threads, utime, stime, cutime, cstime, rss int) string {
	return fmt.Sprintf("7 (%s) S 1 7 7 0 -1 4194560 3096 224766 0 110 %d %d %d %d 20 0 %d 0 2565755 5124096 %d 18446744073709551615 94438040457216\n",
		name, utime, stime, cutime, cstime, threads, rss)
}

var page = int64(os.Getpagesize())

const tick = clockTick

func TestParseStat(t *testing.T) {
	for _, name := range []string{"sh", "a b", "(x)", ") S 9 9 (", "", "a) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22", "\xff\n"} {
		want := stat{state: 'S', cpu: 3 * tick, reaped: 7 * tick, threads: 5, rss: 6 * page}
		if got, ok := parseStat([]byte(statOf(name, 5, 1, 2, 3, 4, 6))); got != want || !ok {
			t.Errorf("name %q: %+v, %v", name, got, ok)
		}
	}
	whole := statOf("sh", 5, 1, 2, 3, 4, 6)
	for _, text := range []string{"", "7", "7 (sh", "7 (sh)", whole[:len(whole)/2]} {
		if got, ok := parseStat([]byte(text)); ok {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

var sampleCases = []struct {
	name  string
	files map[string]string
	want  Usage // but for the largest process
	gone  bool
}{
	{name: "gone", gone: true},
	{name: "alone", files: map[string]string{"7/stat": statOf("sh", 1, 1, 2, 3, 4, 6), "7/task/7/schedstat": "30000001 5 9\n"},
		want: Usage{CPU: 30000001 + 7*tick, Wait: 5, RSS: 6 * page}},
	{name: "no schedstat", files: map[string]string{"7/stat": statOf("sh", 1, 1, 2, 0, 0, 6)},
		want: Usage{CPU: 3 * tick, RSS: 6 * page}},
	{name: "threads", files: map[string]string{"7/stat": statOf("sh", 2, 1, 2, 0, 0, 6), "7/task/7/schedstat": "20000000 5 9\n", "7/task/8/schedstat": "20000000 6 9\n"},
		want: Usage{CPU: 4 * tick, Wait: 11, RSS: 6 * page}},
	{name: "threads that have ended", files: map[string]string{"7/stat": statOf("sh", 1, 100, 0, 0, 0, 6), "7/task/7/schedstat": "20000000 5 9\n"},
		want: Usage{CPU: 100 * tick, Wait: 5, RSS: 6 * page}},
	{name: "descendants", files: map[string]string{
		"7/stat": statOf("sh", 2, 0, 0, 0, 0, 1), "7/task/7/children": "8 ", "7/task/17/children": "9 404 ",
		"8/stat": statOf("a", 1, 0, 0, 1, 1, 1), "8/task/8/schedstat": "1 2 3\n", "8/task/8/children": "10 ",
		"9/stat": statOf("b", 1, 0, 0, 0, 0, 1), "9/task/9/schedstat": "10 20 3\n",
		"10/stat": statOf("c", 1, 0, 0, 0, 0, 1), "10/task/10/schedstat": "100 200 3\n",
	}, want: Usage{CPU: 111 + 2*tick, Wait: 222, RSS: 4 * page}},
	{name: "more threads than are looked at", files: manyThreads(), want: Usage{CPU: maxThreads, Wait: maxThreads, RSS: page}},
	{name: "child without its parent", gone: true, files: map[string]string{"7/task/7/children": "8 ", "8/stat": statOf("a", 1, 0, 0, 0, 0, 1)}},
	{name: "loop", files: map[string]string{"7/stat": statOf("sh", 1, 0, 0, 0, 0, 1), "7/task/7/children": "7 "},
		want: Usage{RSS: maxProcesses * page}},
}

func manyThreads() map[string]string {
	files := map[string]string{"7/stat": statOf("sh", 200, 0, 0, 0, 0, 1)}
	for tid := range 200 {
		files[fmt.Sprintf("7/task/%d/schedstat", tid)] = "1 1 1\n"
		files[fmt.Sprintf("7/task/%d/children", tid)] = strings.Repeat("123456 ", 5000)
	}
	return files
}

func TestSample(t *testing.T) {
	for _, c := range sampleCases {
		s := &sampler{proc: write(t, c.files)}
		got, ok := s.sample(7)
		if got.Largest, got.LargestRSS = 0, 0; ok == c.gone || ok && got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, ok, c.want)
		}
	}
}

// TestSampleOfStates has a shell whose child wants a CPU, and whose grandchild is a zombie.
func TestSampleOfStates(t *testing.T) {
	state := func(s string, rss int) string {
		return strings.Replace(statOf("a", 1, 0, 0, 0, 0, rss), ") S", ") "+s, 1)
	}
	s := &sampler{proc: write(t, map[string]string{
		"7/stat": state("S", 1), "7/task/7/children": "8 9", "8/stat": state("R", 5), "8/task/8/children": "10", "9/stat": state("S", 3), "10/stat": state("Z", 0),
	})}
	want := Usage{RSS: 9 * page, Ready: true, Largest: 8, LargestRSS: 5 * page}
	if got, ok := s.sample(7); got != want || !ok {
		t.Errorf("%+v, %v, want %+v", got, ok, want)
	}
	for pid, want := range map[int]bool{7: true, 8: true, 9: true, 10: false, 11: false} {
		if got := s.lives(pid); got != want {
			t.Errorf("process %d lives: %v", pid, got)
		}
	}
}

// TestAffinity binds this thread to a CPU, as an administrator may do while the process runs.
func TestAffinity(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, one unix.CPUSet
	must(t, unix.SchedGetaffinity(0, &all))
	for i := 0; one.Count() == 0; i++ {
		if all.IsSet(i) {
			one.Set(i)
		}
	}
	must(t, unix.SchedSetaffinity(0, &one))
	defer unix.SchedSetaffinity(0, &all)
	if n := CPUs(); n != 1 {
		t.Errorf("%d CPUs on one", n)
	}
}

// TestSampleOfProcesses looks at a shell whose first children have worked and were waited for,
// and whose last is there.
func TestSampleOfProcesses(t *testing.T) {
	c := exec.Command("sh", "-c", `exec 3<&0
		until [ "$(cut -d' ' -f16 /proc/$$/stat)" -gt 0 ]; do (i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done); done
		(read y <&3; :) &
		echo ready; read x`)
	in, err := c.StdinPipe()
	must(t, err)
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	defer c.Wait()
	defer in.Close()
	_, err = io.ReadFull(out, make([]byte, len("ready")))
	must(t, err)
	s, pid := &sampler{proc: "/proc"}, c.Process.Pid
	if got, ok := s.sample(pid); !ok || got.CPU < tick || got.RSS <= 0 || !Lives(pid) {
		t.Errorf("%+v, %v", got, ok)
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid)); err == nil && len(s.pids) != 2 {
		t.Errorf("processes %d, want the shell and its child", s.pids)
	}
}
