package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
)

// markedProcesses returns the processes that have a variable of that name and value in
// their environment, with their arguments.
func markedProcesses(mark string) map[int]string {
	found := make(map[int]string)
	proc, err := os.Open("/proc")
	if err != nil {
		return found
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	for _, name := range names { // many, and often: filepath.Glob would list the directory of each
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		env, _ := os.ReadFile("/proc/" + name + "/environ")
		if !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+mark+"\x00")) {
			continue
		}
		args, _ := os.ReadFile("/proc/" + name + "/cmdline")
		found[pid] = strings.TrimSpace(string(bytes.ReplaceAll(args, []byte{0}, []byte{' '})))
	}
	return found
}

// peak returns the most memory that a process has had, in MB, or 0 if it has ended.
func peak(pid int) float64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		var kB float64
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kB); n == 1 {
			return kB * 1024 / 1e6
		}
	}
	return 0
}

// wantMemory waits for the end of a run, and wants that stint never had more than so many MB.
func (p *faultRun) wantMemory(most float64) {
	p.t.Helper()
	began, got := time.Now(), 0.0
	for ended := false; !ended; {
		got = max(got, peak(p.Process.Pid))
		select {
		case <-p.done:
			ended = true
		case <-time.After(5 * time.Millisecond):
			if time.Since(began) > patience {
				p.t.Fatalf("%.200q: the run does not end; messages %.2000q", p.Args, p.errs.String())
			}
		}
	}
	p.t.Logf("at most %.0f MB of memory; %.1f s", got, time.Since(began).Seconds())
	if got > most && !raceDetector() {
		p.t.Errorf("%.200q: stint had %.0f MB of memory, want %.0f at most", p.Args, got, most)
	}
}

// raceDetector reports whether these tests run under it: then stint needs more memory.
func raceDetector() bool {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-race" && s.Value == "true" {
			return true
		}
	}
	return false
}

func skipUnlessRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root may do this")
	}
}
