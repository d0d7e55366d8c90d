//go:build unix

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// styles are the ways in which a make tells of its jobserver.
var styles = []string{"fifo", "pipe"}

// A testMake is the jobserver of a make, with a number of tokens.
type testMake struct {
	t     *testing.T
	n     int
	flags string   // MAKEFLAGS
	r, w  *os.File // of the pipe
	pass  bool     // r and w
}

// newMake returns a jobserver in which n jobs may run at once: it has n-1 tokens.
func newMake(t *testing.T, style string, n int) *testMake {
	t.Helper()
	m := &testMake{t: t, n: n, pass: style == "pipe"}
	var err error
	if m.pass {
		m.r, m.w, err = os.Pipe()
		m.flags = fmt.Sprintf("k -j%d --jobserver-auth=3,4", n)
	} else {
		path := filepath.Join(t.TempDir(), "fifo")
		must(t, syscall.Mkfifo(path, 0o600))
		m.r, err = os.OpenFile(path, os.O_RDWR, 0)
		m.w, m.flags = m.r, fmt.Sprintf(" -j%d --jobserver-auth=fifo:%s", n, path)
	}
	must(t, err)
	t.Cleanup(func() {
		m.r.Close()
		m.w.Close()
	})
	_, err = m.w.WriteString(m.tokens())
	must(t, err)
	return m
}

// tokens are those of m, which differ.
func (m *testMake) tokens() string { return "abcdefghijklmnop"[:m.n-1] }

// run returns a run that m starts.
func (m *testMake) run(t *testing.T, args ...string) *faultRun {
	t.Helper()
	p := newFaultRun(t, args...)
	p.Env = append(p.Env, "MAKEFLAGS="+m.flags, "MAKELEVEL=1")
	if m.pass {
		p.ExtraFiles = []*os.File{m.r, m.w}
	}
	return p
}

// want waits for all tokens, and wants each once.
func (m *testMake) want() {
	m.t.Helper()
	b, all := make([]byte, 100), make(chan int, 1)
	go func() {
		n, err := 0, error(nil)
		for more := 0; n < m.n-1 && err == nil; n += more {
			more, err = m.r.Read(b[n:])
		}
		all <- n
	}()
	select {
	case n := <-all:
		b = b[:n]
	case <-time.After(patience):
		m.t.Fatal("tokens are lost")
	}
	slices.Sort(b)
	if string(b) != m.tokens() {
		m.t.Fatalf("tokens %q, want %q", b, m.tokens())
	}
	_, err := m.w.Write(b)
	must(m.t, err)
}

// crowd is a script that runs until n of its kind have run at once, and notes when it begins and
// ends.
func crowd(n int) string {
	return fmt.Sprintf(`echo + >>crowd; [ $(grep -c + crowd) -lt %d ] || >full; until [ -e full ]; do sleep 0.01; done; sleep 0.01; echo - >>crowd`, n)
}

// wantCrowd wants that n at most have run at once, and in all total.
func wantCrowd(t *testing.T, dir string, n, total int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "crowd"))
	must(t, err)
	running, most, all := 0, 0, 0
	for _, line := range strings.Fields(string(text)) {
		if line == "+" {
			running++
			all++
		} else {
			running--
		}
		most = max(most, running)
	}
	if running != 0 || most != n || all != total {
		t.Errorf("%d of %d ran at once, %d are left; want %d of %d", most, all, running, n, total)
	}
}

// TestClientShares runs jobs under a make, which end in all ways.
func TestClientShares(t *testing.T) {
	t.Parallel()
	script := crowd(3)
	for name, c := range map[string]struct {
		args   []string
		status int
		errs   string
	}{
		"success": {[]string{"-s", script + `; : {}`}, 0, ""},
		"failure": {[]string{"-s", script + `; exit 1; : {}`}, 1, "12 of 12 jobs failed"},
		"killed":  {[]string{"-s", script + `; kill -9 $$; : {}`}, 1, "12 of 12 jobs failed"},
		"retries": {[]string{"--retries", "1", "-s", `[ -e $1 ] && exit; : >$1; ` + script + `; exit 1`}, 0, ""},
		"timeout": {[]string{"--timeout", "5", "-s", script + `; [ $1 -gt 3 ] || sleep 1000`}, 1, "3 of 12 jobs failed"},
		"unread":  {[]string{"--results", "/dev/null/none", "-s", `: {}`}, 1, "12 of 12 jobs failed"},
	} {
		for _, style := range styles {
			t.Run(name+"/"+style, func(t *testing.T) {
				t.Parallel()
				m := newMake(t, style, 3)
				p := m.run(t, append(append([]string{"-u"}, c.args...), append([]string{":::"}, items1to(12)...)...)...).start()
				p.want(c.status, "", c.errs)
				if name != "unread" {
					wantCrowd(t, p.Dir, 3, 12)
				}
				m.want()
			})
		}
	}
}

// TestClientIdle has jobs that do not run: they have no tokens.
func TestClientIdle(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"retry": {"--retries", "1", "--retry-delay", "1000s", "-s", `echo >>started; exit 1; : {}`},
		"full":  {"--retry-delay", "1000s", "-s", `echo >>started; exit 75; : {}`},
		"delay": {"--delay", "1000s", "-s", `echo >>started; until [ -e ended ]; do sleep 0.01; done; : {}`},
	} {
		for _, style := range styles {
			t.Run(name+"/"+style, func(t *testing.T) {
				t.Parallel()
				m := newMake(t, style, 5)
				p := m.run(t, append(append([]string{"--quiet"}, args...), ":::", "1", "2")...).start()
				p.awaitLines("started", 1)
				p.send(syscall.SIGUSR1) // perhaps there is one CPU
				if name != "delay" {
					p.awaitLines("started", 2)
				}
				time.Sleep(100 * time.Millisecond) // perhaps the next one takes a token
				m.want()
				p.send(syscall.SIGTERM)
				p.end()
				m.want()
			})
		}
	}
}

// TestClientHalts ends runs under a make early, while jobs run and one waits for a token.
func TestClientHalts(t *testing.T) {
	t.Parallel()
	const script = `echo >>started; [ -z "$FAIL" ] || until [ -e fail ]; do sleep 0.01; done; [ -z "$FAIL" ] || exit 1; trap "" $IGNORE; sleep 1000 & wait; wait; : {}`
	for name, c := range map[string]struct {
		args    []string
		env     string
		signals int
		status  int
	}{
		"halt":    {[]string{"--halt", "now,fail=1"}, "FAIL=1", 0, 1},
		"signal":  {nil, "IGNORE=HUP", 1, 143},
		"signals": {nil, "IGNORE=TERM", 2, 143},
	} {
		for _, style := range styles {
			t.Run(name+"/"+style, func(t *testing.T) {
				t.Parallel()
				m := newMake(t, style, 3)
				p := m.run(t, append(c.args, append([]string{"-s", script, ":::"}, items1to(12)...)...)...)
				p.Env = append(p.Env, c.env)
				p.start().awaitLines("started", 3)
				must(t, os.WriteFile(filepath.Join(p.Dir, "fail"), nil, 0o600))
				for range c.signals {
					p.send(syscall.SIGTERM)
					time.Sleep(20 * time.Millisecond)
				}
				if p.end(); p.ProcessState.ExitCode() != c.status {
					t.Errorf("exit status %d: %s", p.ProcessState.ExitCode(), p.errs.String())
				}
				if n := len(p.lines("started")); n != 3 {
					t.Errorf("%d jobs have started", n)
				}
				m.want()
			})
		}
	}
}

// TestClientKilled kills runs under a make at random moments.
func TestClientKilled(t *testing.T) {
	t.Parallel()
	for _, style := range styles {
		for i := range 4 {
			t.Run(style+strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				m := newMake(t, style, 4)
				var all []*faultRun
				for kill := range 25 {
					script := []string{":; : {}", "sleep 0.00$1", "sleep 1000 & sleep 0.00$1; kill $!", "stint run -s 'sleep 0.0$1' ::: 1 2 3; : {}"}[kill%4]
					p := m.run(t, append([]string{"-u", "-s", script, ":::"}, items1to(1000)...)...).start()
					time.Sleep(time.Duration(rand.Int64N(int64(80 * time.Millisecond))))
					p.send(syscall.SIGKILL)
					p.end()
					m.want()
					all = append(all, p)
				}
				for _, p := range all {
					p.wantNothingLeft() // neither the watcher, which might return more
				}
				m.want()
			})
		}
	}
}

// TestClientWithoutWatcher kills the watcher, which has the tokens: none is lost, and as many jobs run
// as before.
func TestClientWithoutWatcher(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the watcher is not found here")
	}
	t.Parallel()
	for _, style := range styles {
		t.Run(style, func(t *testing.T) {
			t.Parallel()
			m := newMake(t, style, 3)
			script := `echo >>started; until [ -e killed ]; do sleep 0.01; done; ` + crowd(3) + `; : {}`
			p := m.run(t, append([]string{"-u", "-s", script, ":::"}, items1to(12)...)...).start()
			p.awaitLines("started", 3)
			for pid, args := range markedProcesses(p.mark) {
				if strings.Contains(args, "watch --tokens") {
					must(t, syscall.Kill(pid, syscall.SIGKILL))
				}
			}
			p.write("killed", "")
			p.want(0, "", "jobserver: the process with the tokens has ended")
			wantCrowd(t, p.Dir, 3, 12)
			m.want()
		})
	}
}

// TestClientMessage tells of a make that does not pass its jobserver.
func TestClientMessage(t *testing.T) {
	t.Parallel()
	m := newMake(t, "pipe", 3)
	m.pass = false
	const message = "make has not passed its jobserver: the recipe line needs a + at its start"
	m.run(t, "echo", ":::", "1").start().want(0, "1\n", message)
	m.run(t, "--quiet", "echo", ":::", "1").start().want(0, "1\n", "")
	m.run(t, "-j2", "echo", ":::", "1").start().want(0, "1\n", "")
	m.flags = "n" + m.flags
	m.run(t, "echo", ":::", "1").start().want(0, "echo 1\n", "")
}

// needs returns the path of a program, or skips the test unless it must be there.
func needs(t *testing.T, name string, always bool) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && (!always || os.Getenv("CI") == "") {
		t.Skip(err)
	}
	must(t, err)
	return path
}

// makefile writes a Makefile of targets that have the same recipe line.
func makefile(t *testing.T, dir, name, line string, targets int) {
	t.Helper()
	all := strings.Join(items1to(targets), " ")
	text := fmt.Sprintf("all: %s\n%s:\n\t%s\n", all, all, strings.ReplaceAll(line, "$", "$$"))
	must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

// TestMake runs stint and make in each other. Each number is the most that runs at once.
func TestMake(t *testing.T) {
	t.Parallel()
	needs(t, "make", true)
	const stint, inner = `stint run -s 'make -s -f inner; : {}' ::: 1 2 3`, `stint run -s 'sh crowd.sh; : {}' ::: 1 2`
	for name, c := range map[string]struct {
		args  []string
		inner string
		total int
	}{
		"client":        {[]string{"make", "-s", "-f", "outer", "-j3"}, "", 6},
		"server":        {[]string{"stint", "run", "--jobserver", "-j3", "-s", "make -s -f inner; : {}", ":::", "1", "2", "3", "4"}, "sh crowd.sh", 12},
		"server, pipe":  {[]string{"stint", "run", "--jobserver=pipe", "-j3", "-s", "make -s -f inner; : {}", ":::", "1", "2", "3", "4"}, "sh crowd.sh", 12},
		"in each other": {[]string{"make", "-s", "-f", "outer", "-j3"}, inner, 54},
		"in a server":   {[]string{"stint", "run", "--jobserver", "-j3", "sh", "outer.sh", ":::", "1", "2"}, inner, 36},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newFaultRun(t)
			p.Args = c.args
			p.Path = needs(t, c.args[0], true)
			must(t, os.WriteFile(filepath.Join(p.Dir, "crowd.sh"), []byte(crowd(3)), 0o600))
			outer := stint
			if c.inner == "" {
				outer = inner
			}
			must(t, os.WriteFile(filepath.Join(p.Dir, "outer.sh"), []byte(outer), 0o600))
			makefile(t, p.Dir, "outer", "+"+outer, 3)
			makefile(t, p.Dir, "inner", "+"+c.inner, 3)
			p.Env = append(p.Env, "MAKEFLAGS=")
			p.start().want(0, "", "")
			wantCrowd(t, p.Dir, 3, c.total)
		})
	}
}

// TestNinja runs ninja under a server.
func TestNinja(t *testing.T) {
	t.Parallel()
	path := needs(t, "ninja", false)
	version, err := exec.Command(path, "--version").Output()
	must(t, err)
	var major, minor int
	if n, _ := fmt.Sscanf(string(version), "%d.%d", &major, &minor); n != 2 || major == 1 && minor < 13 {
		t.Skipf("ninja %s is no client of a jobserver", version)
	}
	p := newFaultRun(t, "--jobserver=fifo", "-j3", "ninja", "--quiet", "-f", "{}", ":::", "a", "b")
	must(t, os.WriteFile(filepath.Join(p.Dir, "crowd.sh"), []byte(crowd(3)), 0o600))
	for _, name := range []string{"a", "b"} {
		text := "builddir = " + name + ".d\nrule r\n command = sh crowd.sh : $out\n"
		for i := range 5 {
			text += fmt.Sprintf("build %s%d: r\n", name, i)
		}
		must(t, os.WriteFile(filepath.Join(p.Dir, name), []byte(text), 0o600))
	}
	p.Env = append(p.Env, "MAKEFLAGS=")
	p.start().want(0, "", "")
	wantCrowd(t, p.Dir, 3, 10)
}

// TestCargo runs cargo under a server.
func TestCargo(t *testing.T) {
	t.Parallel()
	if err := exec.Command(needs(t, "cargo", false), "--version").Run(); err != nil {
		t.Skip(err)
	}
	for _, style := range styles {
		p := newFaultRun(t, "--jobserver="+style, "-j3", "cargo", "build", "--quiet", "--offline", "--target-dir", "{}/target", "--manifest-path", "{}/Cargo.toml", ":::", "a", "b")
		wrapper := filepath.Join(p.Dir, "rustc.sh")
		must(t, os.WriteFile(wrapper, []byte("#!/bin/sh\ncase $* in *--crate-name\\ lib*) (cd "+p.Dir+"; "+crowd(3)+");; esac\nexec \"$@\"\n"), 0o700))
		for _, name := range []string{"a", "b"} {
			must(t, os.Mkdir(filepath.Join(p.Dir, name), 0o700))
			p.write(name+"/Cargo.toml", "[workspace]\nresolver = \"2\"\nmembers = [\"lib*\"]\n")
			for i := range 4 {
				crate := fmt.Sprintf("%s/lib%d/", name, i)
				must(t, os.MkdirAll(filepath.Join(p.Dir, crate+"src"), 0o700))
				p.write(crate+"src/lib.rs", "")
				p.write(crate+"Cargo.toml", fmt.Sprintf("[package]\nname = \"lib%d\"\nversion = \"0.0.0\"\nedition = \"2021\"\n", i))
			}
		}
		p.Env = append(p.Env, "MAKEFLAGS=", "CARGO_MAKEFLAGS=", "RUSTC_WRAPPER="+wrapper)
		p.start().want(0, "", "")
		wantCrowd(t, p.Dir, 3, 8)
	}
}

// TestServerKilled kills a run whose jobs have a jobserver: the watcher removes it.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	p := newFaultRun(t, "--jobserver=fifo", "-j2", "-s", `echo "$MAKEFLAGS" >>started; sleep 1000; : {}`, ":::", "1", "2")
	p.Env = append(p.Env, "TMPDIR="+p.Dir)
	p.start().awaitLines("started", 2)
	_, path, _ := strings.Cut(p.lines("started")[0], "fifo:")
	for name, want := range map[string]os.FileMode{path: os.ModeNamedPipe | 0o600, filepath.Dir(path): os.ModeDir | 0o700} {
		info, err := os.Stat(name)
		must(t, err)
		if info.Mode() != want {
			t.Errorf("%s: %v", name, info.Mode())
		}
	}
	p.send(syscall.SIGKILL)
	p.end()
	p.wantNothingLeft()
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestServerStyle looks how jobs are told of the jobserver, with an old make in PATH and in directories
// for temporary files whose names are none for MAKEFLAGS.
func TestServerStyle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tmp, program, out, errs string }{
		{"/tmp", "tool", "--jobserver-auth=[0-9]", ""},
		{"/tmp", "ninja", "--jobserver-auth=fifo:/tmp/stint-make-", ""},
		{"with blank", "ninja", "--jobserver-auth=fifo:/tmp/stint-make-", ""},
		{"$X", "ninja", "--jobserver-auth=fifo:/tmp/stint-make-", ""},
		{"relative", "ninja", "--jobserver-auth=fifo:/tmp/stint-make-", ""},
		{"/none", "ninja", "", "stint: --jobserver: stat /none: no such file or directory"},
	} {
		p := newFaultRun(t, "--jobserver", c.program, ":::", "1")
		for name, script := range map[string]string{"make": "echo GNU Make 4.3", "tool": `echo "$MAKEFLAGS"`, "ninja": `echo "$MAKEFLAGS"`} {
			must(t, os.WriteFile(filepath.Join(p.Dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
		}
		for _, name := range []string{"with blank", "$X", "relative"} {
			must(t, os.Mkdir(filepath.Join(p.Dir, name), 0o700))
		}
		tmp := c.tmp
		if strings.ContainsAny(tmp, " $") {
			tmp = filepath.Join(p.Dir, tmp)
		}
		p.Env = append(p.Env, "TMPDIR="+tmp, "MAKEFLAGS=", "PATH="+p.Dir+":"+os.Getenv("PATH"))
		if p.start().end(); !regexp.MustCompile(c.out).MatchString(p.out.String()) || !strings.Contains(p.errs.String(), c.errs) {
			t.Errorf("%+v: %q, %q", c, p.out.String(), p.errs.String())
		}
	}
}

// TestServerMakesUp kills makes that have tokens: those are replaced when no job runs.
func TestServerMakesUp(t *testing.T) {
	t.Parallel()
	needs(t, "make", true)
	p := newFaultRun(t, "--jobserver", "-j3", "-s", "[ $1 -gt 1 ] || exec make -s -f Makefile1; "+crowd(3))
	makefile(t, p.Dir, "Makefile1", `echo >>started; until [ $(wc -l <started) -ge 3 ]; do sleep 0.01; done; kill -9 0`, 3)
	items, err := p.StdinPipe()
	must(t, err)
	p.start()
	_, err = fmt.Fprintln(items, "1")
	must(t, err)
	p.awaitLines("started", 3)
	_, err = fmt.Fprintln(items, "2\n3\n4\n5")
	must(t, err)
	must(t, items.Close())
	p.end()
	p.wantMessage("jobserver: 2 tokens are replaced")
	wantCrowd(t, p.Dir, 3, 4)
}
