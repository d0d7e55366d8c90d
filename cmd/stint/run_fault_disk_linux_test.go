package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// fullDisks are ways in which a run has no room for output on disk.
var fullDisks = []struct {
	name string
	set  func(*faultRun)
}{
	{"small", func(p *faultRun) { p.Env = append(p.Env, "TMPDIR="+smallDisk(p.t, 4<<20)) }},
	{"missing", func(p *faultRun) { p.Env = append(p.Env, "TMPDIR=/nonexistent") }},
	{"limited", func(p *faultRun) { p.within("sh", "-c", `ulimit -f 8192; exec "$@"`, "sh") }},
}

// smallDisk returns a directory with room for so many bytes.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

const (
	yes     = `yes "$1" | head -c `
	jobSize = 8 << 20 // of four jobs: more than fits into memory, which is 16 MiB, and a small disk
)

// TestRunDiskIsFull wants all output though there is no room to keep it.
func TestRunDiskIsFull(t *testing.T) {
	t.Parallel()
	for _, disk := range fullDisks {
		for _, flag := range []string{"--tag=false", "--tag", "--unordered"} {
			t.Run(disk.name+" "+flag, func(t *testing.T) {
				t.Parallel()
				p := newFaultRun(t, "-j", "4", flag, "-s", yes+fmt.Sprint(jobSize), ":::", "1", "2", "3", "4")
				if disk.set(p); flag == "--tag" {
					p.wantYes(&yesChecker{items: []string{"1\t1", "2\t2", "3\t3", "4\t4"}, size: 2 * jobSize})
				} else if flag == "--unordered" {
					p.wantYesInAnyOrder(jobSize, "1", "2", "3", "4")
				} else {
					p.wantYes(&yesChecker{items: []string{"1", "2", "3", "4"}, size: jobSize})
				}
				p.wantMessage("stint: no temporary file for output: ")
			})
		}
	}
}

// wantYes wants the output of jobs that execute "yes ITEM | head -c SIZE", in order.
func (p *faultRun) wantYes(c *yesChecker) {
	p.t.Helper()
	p.Stdout = c
	p.start().end()
	if got := p.ProcessState.ExitCode(); got != 0 {
		p.t.Errorf("exit status %d, want 0; messages %.1000q", got, p.errs.String())
	}
	c.wantWhole(p.t)
}

// wantYesInAnyOrder wants it in the order in which the jobs come.
func (p *faultRun) wantYesInAnyOrder(size int, items ...string) {
	p.t.Helper()
	p.start().end()
	got := p.out.Bytes()
	c := &yesChecker{size: size}
	for at := 0; at < len(got); at += size {
		line, _, _ := strings.Cut(string(got[at:min(at+100, len(got))]), "\n")
		c.items = append(c.items, line)
	}
	_, _ = c.Write(got)
	c.wantWhole(p.t)
	if slices.Sort(c.items); !slices.Equal(c.items, items) || p.ProcessState.ExitCode() != 0 {
		p.t.Errorf("exit status %d, jobs %q, want 0, %q; messages %.1000q", p.ProcessState.ExitCode(), c.items, items, p.errs.String())
	}
}

// TestRunDiskIsFullJSON wants a result of each job: its output, or why there is none.
func TestRunDiskIsFullJSON(t *testing.T) {
	t.Parallel()
	for _, disk := range fullDisks {
		p := newFaultRun(t, "-j", "4", "--json", "-s", yes+fmt.Sprint(jobSize), ":::", "1", "2", "3", "4")
		disk.set(p)
		p.start().end()
		p.wantMessage("no room for its output: the temporary file is full")
		lines := strings.SplitAfter(p.out.String(), "\n")
		if len(lines) != 6 || p.ProcessState.ExitCode() != 1 {
			t.Fatalf("%s: %d lines, exit status %d; want 5, 1; messages %.1000q", disk.name, len(lines)-1, p.ProcessState.ExitCode(), p.errs.String())
		}
		for i, line := range lines[:4] {
			var job struct {
				Seq, Status   int
				Error, Stdout string
			}
			if err := json.Unmarshal([]byte(line), &job); err != nil || job.Seq != i+1 {
				t.Errorf("%s: job %d, want %d: %v", disk.name, job.Seq, i+1, err)
			}
			c := &yesChecker{items: []string{fmt.Sprint(job.Seq)}, size: jobSize}
			if _, _ = io.WriteString(c, job.Stdout); job.Status == 0 {
				c.wantWhole(t)
			} else if job.Error != "no room for its output: the temporary file is full" {
				t.Errorf("%s: job %d: status %d, error %q", disk.name, job.Seq, job.Status, job.Error)
			}
		}
	}
}

// awaitNoRoom waits until a job finds no room for its output.
func (p *faultRun) awaitNoRoom() {
	p.t.Helper()
	if !eventually(func() bool { return strings.Contains(p.errs.String(), "no temporary file for output: ") }) {
		p.t.Fatalf("%q: messages %q", p.Args, p.errs.String())
	}
}

// TestRunJobsWaitForRoom wants that a job whose output must be kept until it has ended, as it may
// be tried again, waits for room when another job will free some.
func TestRunJobsWaitForRoom(t *testing.T) {
	t.Parallel()
	const script = `until [ $1 = 1 ] || [ -e first ]; do sleep 0.02; done; yes $1 | head -c 12000000; touch first; until [ -e go ]; do sleep 0.02; done`
	for _, flags := range [][]string{{"--retries", "1"}, {"--retries", "1", "-u"}, {"--json"}, {"--json", "-u"}} {
		p := newFaultRun(t, append(append([]string{"-j", "2"}, flags...), "-s", script, ":::", "1", "2")...)
		p.Env = append(p.Env, "TMPDIR=/nonexistent")
		p.start().awaitNoRoom()
		p.write("go", "")
		p.end()
		if got := p.ProcessState.ExitCode(); got != 0 || p.out.Len() < 2*12_000_000 {
			t.Errorf("%q: exit status %d, %d bytes of output, want 0, %d; messages %.1000q", flags, got, p.out.Len(), 2*12_000_000, p.errs.String())
		}
	}
}

// TestRunDiskIsFullEnds ends runs in which jobs wait for room.
func TestRunDiskIsFullEnds(t *testing.T) {
	t.Parallel()
	ends := map[string]struct {
		args   []string
		status int
		do     func(*faultRun, *os.File) // when there is no room; nil: the run ends by itself
	}{
		"signal":  {nil, 143, func(p *faultRun, _ *os.File) { p.send(syscall.SIGTERM) }},
		"signals": {nil, 130, func(p *faultRun, _ *os.File) { p.send(syscall.SIGINT); p.send(syscall.SIGINT) }},
		"reader":  {nil, 141, func(p *faultRun, r *os.File) { r.Close(); p.write("go", "") }},
		"halt":    {[]string{"--halt", "now"}, 7, func(p *faultRun, _ *os.File) { p.write("go", "") }},
		"timeout": {[]string{"--timeout", "1"}, 1, nil},
	}
	const script = `[ $1 != 4 ] || { while [ ! -e go ]; do sleep 0.02; done; exit 7; }; yes "$1" | head -c 20000000; echo >>ended; exec sleep 1000`
	for name, end := range ends {
		for _, flag := range []string{"--tag", "--unordered", "--json"} {
			if name == "halt" && flag == "--json" {
				continue // a job without room fails, and halts the run
			}
			r, w, err := os.Pipe()
			must(t, err)
			p := newFaultRun(t, append(end.args, "-j", "4", flag, "-s", script, ":::", "1", "2", "3", "4")...)
			p.Env, p.Stdout = append(p.Env, "TMPDIR=/nonexistent"), w
			p.start()
			w.Close()
			if name != "reader" { // which does not read
				go func() { _, _ = io.Copy(io.Discard, r) }()
			}
			if end.do != nil {
				p.awaitNoRoom()
				end.do(p, r)
			}
			p.end()
			if got := p.ProcessState.ExitCode(); got != end.status {
				t.Errorf("%s %s: exit status %d, want %d; messages %.1000q", name, flag, got, end.status, p.errs.String())
			}
			r.Close()
		}
	}
}

// TestRunJobsFlood runs jobs that print much more than memory may hold.
func TestRunJobsFlood(t *testing.T) {
	t.Parallel()
	const size = 60 << 20
	c := &yesChecker{items: []string{"first", "second", "third"}, size: size}
	p := newFaultRun(t, append([]string{"-j", "3", "-s", yes + fmt.Sprint(size), ":::"}, c.items...)...)
	p.Stdout = c
	p.start().wantMemory(100)
	c.wantWhole(t)
	p.wantMessage("")
}

// TestRunFirstJobLasts lasts until all the others have ended, which print 1 MB each.
func TestRunFirstJobLasts(t *testing.T) {
	t.Parallel()
	const n = 200
	c := &yesChecker{items: items1to(1 + n), size: 1 << 20}
	script := fmt.Sprintf(`[ $1 != 1 ] || while [ $(wc -c <ended) -lt %d ]; do sleep 0.1; done; yes $1 | head -c %d; printf . >>ended`, n, 1<<20)
	p := newFaultRun(t, append([]string{"-j", "2", "-s", script, ":::"}, c.items...)...)
	p.write("ended", "")
	p.Stdout = c
	p.start().wantMemory(100)
	c.wantWhole(t)
	p.wantMessage("")
}

// TestRunFewFiles has fewer descriptors than outputs that wait, which are more than memory may hold:
// jobs wait, and the first one, which starts again, finds descriptors for its pipes.
func TestRunFewFiles(t *testing.T) {
	t.Parallel()
	c := &yesChecker{items: items1to(80), size: 1 << 20}
	script := fmt.Sprintf(`[ $1 != 1 ] || [ -e go ] || { until [ -e go ]; do sleep 0.02; done; exit 75; }; yes $1 | head -c %d`, c.size)
	p := newFaultRun(t, append([]string{"-j", "4", "--retry-delay", "0.01", "-s", script, ":::"}, c.items...)...)
	p.within("sh", "-c", `ulimit -n 64; exec "$@"`, "sh")
	p.Stdout = c
	p.start().awaitNoRoom()
	p.write("go", "")
	if p.end(); p.ProcessState.ExitCode() != 0 {
		t.Errorf("exit status %d, messages %.1000q", p.ProcessState.ExitCode(), p.errs.String())
	}
	p.wantMessage("Too many open files")
	c.wantWhole(t)
}

// TestRunJoblogIsFull wants that no more jobs start when the log cannot be written, and that a run goes
// on with a copy of it, which has each job once.
func TestRunJoblogIsFull(t *testing.T) {
	t.Parallel()
	const script = `echo $1 >>started`
	p := newFaultRun(t, append([]string{"--joblog", "/dev/full", "-s", script, ":::"}, items1to(100)...)...)
	p.start().want(1, "", "stint: ")
	if n := len(p.lines("started")); n > 0 {
		t.Errorf("%d jobs have started without a log", n)
	}
	log := filepath.Join(smallDisk(t, 4096), "log")
	small := newFaultRun(t, append([]string{"-j", "2", "--joblog", log, "-s", `trap "" TERM; ` + script, ":::"}, items1to(200)...)...)
	small.start().want(1, "", "stint: --joblog ")
	b, err := os.ReadFile(log)
	must(t, err)
	logged, started := strings.Count(string(b), "\n")-1, len(small.lines("started"))
	if logged < 1 || started > logged+4 {
		t.Errorf("%d jobs have started and %d are in the log, want no more to start", started, logged)
	}
	resumed := newFaultRun(t, append([]string{"-j", "2", "--joblog", "log", "--resume", "-s", small.Args[7], ":::"}, items1to(200)...)...)
	resumed.write("log", string(b))
	before := resumed.logged()
	resumed.start().want(0, "", "")
	if got := resumed.logged(); !slices.Equal(got, items1to(200)) {
		t.Errorf("the log has %d jobs, want 200, each once: %q", len(got), got)
	}
	if got, want := len(resumed.lines("started")), 200-len(before); got != want {
		t.Errorf("%d jobs have run again, want %d", got, want)
	}
}
