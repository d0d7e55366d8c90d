//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// numbered is a job that says when it begins and ends, and waits for a file go. A worker that loses a
// job, as the machine has other things to do, ends it; it is run again.
const numbered = `trap 'echo end $1 >>log; exit 1' TERM; echo begin $1 >>log; while [ ! -e go ]; do sleep 0.02; done; echo end $1 >>log`

// A setter sets the number of jobs of a process, of which there are 2 at first.
type setter struct {
	flag  []string
	four  func(t *testing.T, p *faultRun, awaits func(begun int)) // jobs at once
	pause func(p *faultRun)
	one   func(p *faultRun)
	how   string   // jobs go on after a pause
	limit []string // the changes
}

// setters returns those by signals and by a file.
func setters(t *testing.T) map[string]setter {
	name := filepath.Join(t.TempDir(), "n")
	write := func(text string) { must(t, os.WriteFile(name, []byte(text), 0o666)) }
	write("2\n")
	return map[string]setter{
		"signals": {
			[]string{"-j", "2"},
			func(_ *testing.T, p *faultRun, awaits func(int)) {
				p.send(syscall.SIGUSR1)
				awaits(3)
				p.send(syscall.SIGUSR1)
				awaits(4)
			},
			func(p *faultRun) { // signals that are pending at the same time are one
				for !strings.Contains(p.errs.String(), "paused") && !p.ended() {
					p.send(syscall.SIGUSR2)
					time.Sleep(20 * time.Millisecond)
				}
			},
			func(p *faultRun) { p.send(syscall.SIGUSR1) }, "SIGUSR1", []string{"3", "4", "3", "2", "1", "0", "1"},
		},
		"file": {
			[]string{"--jobs", name},
			func(t *testing.T, p *faultRun, awaits func(int)) {
				write("x")
				if !eventually(func() bool { return strings.Contains(p.errs.String(), "the number of jobs stays") }) {
					t.Errorf("messages %q about bad content", p.errs.String())
				}
				write("4")
				awaits(4)
			},
			func(p *faultRun) { write("0") }, func(p *faultRun) { write("1\n") }, "SIGUSR1 or a number in " + name, []string{"4", "0", "1"},
		},
	}
}

// changeNumber runs jobs: p is "stint run", and w is the process that has the number, p or a worker.
func changeNumber(t *testing.T, s setter, p, w *faultRun) {
	t.Helper()
	p.start()
	distinct := func(what string) int {
		jobs := make(map[string]bool)
		for _, line := range p.lines("log") {
			if strings.HasPrefix(line, what) {
				jobs[line] = true
			}
		}
		return len(jobs)
	}
	awaits := func(what string, n int) {
		t.Helper()
		if !eventually(func() bool { return distinct(what) >= n }) || distinct(what) != n {
			t.Fatalf("%d jobs %s, want %d: %q; messages %.1000q", distinct(what), what, n, p.lines("log"), w.errs.String())
		}
	}
	awaits("begin", 2)
	s.four(t, w, func(n int) { t.Helper(); awaits("begin", n) })
	s.pause(w)
	if !eventually(func() bool {
		return strings.Contains(w.errs.String(), "paused: running jobs finish, others start after "+s.how+"\n")
	}) {
		t.Fatalf("messages %q in a pause", w.errs.String())
	}
	p.write("go", "")
	awaits("end", 4)
	time.Sleep(50 * time.Millisecond) // for one that should not begin
	awaits("begin", 4)
	before := len(p.lines("log"))
	s.one(w)
	if p.end(); p.ProcessState.ExitCode() != 0 {
		t.Errorf("exit status %d; messages %.1000q", p.ProcessState.ExitCode(), p.errs.String())
	}
	awaits("end", 12)
	for now, rest := 0, p.lines("log")[before:]; len(rest) > 0; rest = rest[1:] {
		if now++; strings.HasPrefix(rest[0], "end") {
			now -= 2
		}
		if now > 1 {
			t.Fatalf("log %q, want jobs one after the other in the end", p.lines("log"))
		}
	}
}

// TestRunNumberChanges sets the number of jobs while they run: the most at once follows at once.
func TestRunNumberChanges(t *testing.T) {
	t.Parallel()
	for name, s := range setters(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newFaultRun(t, append(append([]string{"--json"}, s.flag...), append([]string{"-s", numbered, ":::"}, items1to(12)...)...)...)
			changeNumber(t, s, p, p)
			var summary struct {
				Concurrency struct {
					Limit   int
					History []struct{ Limit int }
				}
			}
			all := strings.Split(strings.TrimSpace(p.out.String()), "\n")
			must(t, json.Unmarshal([]byte(all[len(all)-1]), &summary))
			var limits []string
			for _, h := range summary.Concurrency.History {
				limits = append(limits, fmt.Sprint(h.Limit))
			}
			if got, want := strings.Join(limits, " "), strings.Join(s.limit, " "); got != want || summary.Concurrency.Limit != 1 {
				t.Errorf("history %s, want %s; limit %d", got, want, summary.Concurrency.Limit)
			}
		})
	}
}

// TestRunNumberOfAWorkerChanges does so with the number of a worker, which takes no job in a pause.
func TestRunNumberOfAWorkerChanges(t *testing.T) {
	t.Parallel()
	for name, s := range setters(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, _ := serve(t)
			w := faultWorker(t, url, "WORKER=1", append([]string{"--run"}, s.flag...)...)
			changeNumber(t, s, newClusterRun(t, url, append([]string{"-s", numbered, ":::"}, items1to(12)...)...), w)
		})
	}
}

// TestRunInterruptedInAPause ends runs and workers, some of which have begun with a pause.
func TestRunInterruptedInAPause(t *testing.T) {
	t.Parallel()
	url, _ := serve(t)
	name := filepath.Join(t.TempDir(), "n")
	must(t, os.WriteFile(name, []byte("0"), 0o666))
	run := []string{"run", "-s", "echo >>started; exec sleep $1", ":::", "1000", "1"}
	work := []string{"work", "--cluster", url, "--run"}
	for _, args := range [][]string{run, work} {
		for _, jobs := range []string{name, "1"} {
			p := newFaultCommand(t, append([]string{args[0], "-j", jobs}, args[1:]...)...).start()
			if jobs == "1" && args[0] == "run" {
				p.awaitLines("started", 1)
			} else if args[0] == "work" && !eventually(func() bool { return strings.Contains(p.errs.String(), "working") }) {
				t.Fatalf("messages %q", p.errs.String())
			}
			if jobs == "1" {
				p.send(syscall.SIGUSR2)
			}
			if !eventually(func() bool { return strings.Contains(p.errs.String(), "paused") }) {
				t.Fatalf("%q: messages %q", p.Args, p.errs.String())
			}
			time.Sleep(300 * time.Millisecond) // a worker asks for a slot meanwhile
			p.send(syscall.SIGTERM)
			if begun := p.lines("started"); jobs == name && len(begun) > 0 {
				t.Errorf("%q: %d jobs begin in a pause", p.Args, len(begun))
			}
			status := map[string]int{"run": 143, "work": 0}[args[0]]
			if p.end(); p.ProcessState.ExitCode() != status {
				t.Errorf("%q: %v; messages %.1000q", p.Args, p.ProcessState, p.errs.String())
			}
		}
	}
}

// TestRunSignalsOfTheNumber sends the signals in all phases of a run, and of "stint advise".
func TestRunSignalsOfTheNumber(t *testing.T) {
	t.Parallel()
	for _, p := range []*faultRun{
		newFaultRun(t, "-s", "echo >>started; : $1"),
		newFaultRun(t, "--pipe", "--block", "2", "-s", "cat >/dev/null; echo >>started"),
		newFaultCommand(t, "advise", "--budget", "2s", "-s", "echo >>started; : $1"),
	} {
		in, err := p.StdinPipe()
		must(t, err)
		defer in.Close()
		p.start()
		_, err = in.Write([]byte("1\n2\n"))
		must(t, err)
		if p.Args[1] == "run" {
			p.awaitLines("started", 1) // it catches signals by now
		} else {
			_, err = in.Write([]byte(strings.Join(items1to(50), "\n") + "\n"))
			must(t, err)
			must(t, in.Close())
			p.awaitLines("started", 1)
		}
		for i := 0; !p.ended(); i++ {
			if i == 10 {
				_, _ = in.Write([]byte(strings.Join(items1to(100), "\n") + "\n"))
				in.Close()
			}
			_ = p.Process.Signal([]syscall.Signal{syscall.SIGUSR2, syscall.SIGUSR1, syscall.SIGUSR1}[i%3])
			time.Sleep(time.Millisecond)
		}
		if p.end(); p.ProcessState.ExitCode() != 0 {
			t.Errorf("%q: %v; messages %.1000q", p.Args, p.ProcessState, p.errs.String())
		}
	}
}
