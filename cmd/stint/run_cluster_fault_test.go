//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stint-go/stint/cluster"
)

// newFaultCommand returns another command than "stint run" in a process of its own.
func newFaultCommand(t *testing.T, args ...string) *faultRun {
	t.Helper()
	p := newFaultRun(t)
	p.Args = append([]string{"stint"}, args...)
	return p
}

// newClusterRun returns a run whose jobs run on workers, in the directory of the run.
func newClusterRun(t *testing.T, url string, args ...string) *faultRun {
	t.Helper()
	return newFaultRun(t, append([]string{"--cluster", url, "--cwd", "."}, args...)...)
}

// faultWorker starts a worker in a process of its own, with a variable, and waits until it
// works.
func faultWorker(t *testing.T, url, variable string, args ...string) *faultRun {
	t.Helper()
	w := newFaultCommand(t, append([]string{"work", "--cluster", url}, args...)...)
	w.Env = append(w.Env, variable)
	w.start()
	if !eventually(func() bool { return strings.Contains(w.errs.String(), "stint: working for ") }) {
		t.Fatalf("a worker prints %q, want that it works", w.errs.String())
	}
	return w
}

// kill kills the process, and waits for its end.
func (p *faultRun) kill() {
	p.t.Helper()
	p.send(syscall.SIGKILL)
	p.end()
}

// A faultServer is a server with a directory, in a process of its own.
type faultServer struct {
	*faultRun
	url, dir string
	args     []string // more of them
}

func newFaultServer(t *testing.T, args ...string) *faultServer {
	t.Helper()
	s := &faultServer{dir: filepath.Join(t.TempDir(), "server"), args: args}
	s.start(t, freeAddress(t))
	return s
}

// start starts the server, and waits for its URL.
func (s *faultServer) start(t *testing.T, listen string) {
	t.Helper()
	out := new(syncBuilder)
	s.faultRun = newFaultCommand(t, append([]string{"serve", "--listen", listen, "--dir", s.dir}, s.args...)...)
	s.Stdout = out
	s.faultRun.start()
	if !eventually(func() bool { return strings.HasSuffix(out.String(), "\n") }) {
		t.Fatalf("the server prints no URL; messages %q", s.errs.String())
	}
	s.url = strings.TrimSpace(out.String())
}

// restart starts a killed server again, at the same address.
func (s *faultServer) restart() {
	s.t.Helper()
	s.start(s.t, strings.TrimPrefix(s.url, "nats://"))
}

// jobErrors returns what jobs have printed as errors: the messages of stint begin with its name.
func (p *faultRun) jobErrors() string {
	var b strings.Builder
	for line := range strings.Lines(p.errs.String()) {
		if !strings.HasPrefix(line, "stint: ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// wantLike waits for the end, and wants what a run of the same jobs without workers prints.
func (p *faultRun) wantLike(args ...string) {
	p.t.Helper()
	here := newFaultRun(p.t, args...)
	here.write("go", "")
	here.start().end()
	p.end()
	if got, want := p.ProcessState.ExitCode(), here.ProcessState.ExitCode(); got != want {
		p.t.Errorf("exit status %d, want %d; messages %.2000q", got, want, p.errs.String())
	}
	if got, want := p.out.String(), here.out.String(); got != want {
		p.t.Errorf("%d bytes of output, want %d: it %.300s", len(got), len(want), difference(got, want))
	}
	if got, want := p.jobErrors(), here.jobErrors(); got != want {
		p.t.Errorf("%d bytes of errors, want %d: they %.300s", len(got), len(want), difference(got, want))
	}
}

// wantAllRun wants that each item is the first word of a line of the file runs.
func (p *faultRun) wantAllRun(n int) {
	p.t.Helper()
	seen := map[string]bool{}
	for _, line := range p.lines("runs") {
		item, _, _ := strings.Cut(line, " ")
		seen[item] = true
	}
	for _, item := range items1to(n) {
		if !seen[item] {
			p.t.Errorf("job %s has not run", item)
		}
	}
	if len(seen) != n {
		p.t.Errorf("%d jobs have run, want %d", len(seen), n)
	}
}

// untilGo is a script of jobs. Each notes that it runs, and prints to both outputs; the output of
// some is sent in parts. When many have run, each of the others waits for a file of its worker.
const untilGo = `echo $1 $WORKER >>runs
	if [ $(wc -l <runs) -gt 40 ]; then
		echo $1 >>waits$WORKER
		while [ ! -e go$WORKER ]; do sleep 0.02; done
	fi
	[ $(($1 % 10)) != 0 ] || yes $1 | head -c 300000; echo out $1; echo err $1 >&2`

// TestRunClusterKilled kills a worker or the server in the middle of a run: nothing differs from a
// run without workers.
func TestRunClusterKilled(t *testing.T) {
	t.Parallel()
	args := append([]string{"-s", untilGo, ":::"}, items1to(60)...)
	for name, fault := range map[string]func(p *faultRun, s *faultServer, worker *faultRun, release func()){
		"worker with two jobs": func(p *faultRun, _ *faultServer, worker *faultRun, release func()) {
			p.awaitLines("waits1", 2)
			worker.kill()
			release()
		},
		"worker": func(p *faultRun, _ *faultServer, worker *faultRun, release func()) {
			release()
			p.awaitLines("runs", 30)
			worker.kill()
		},
		"worker is terminated": func(p *faultRun, _ *faultServer, worker *faultRun, release func()) {
			p.awaitLines("waits1", 2)
			worker.send(syscall.SIGTERM)
			release()
		},
		"server is away as jobs end": func(p *faultRun, s *faultServer, _ *faultRun, release func()) {
			p.awaitLines("runs", 41)
			s.kill()
			release()
			s.restart()
		},
		"server is back as jobs end": func(p *faultRun, s *faultServer, _ *faultRun, release func()) {
			p.awaitLines("runs", 41)
			s.kill()
			s.restart()
			release()
		},
		"server twice": func(p *faultRun, s *faultServer, _ *faultRun, release func()) {
			release()
			for _, lines := range []int{1, 30} {
				p.awaitLines("runs", lines)
				s.kill()
				s.restart()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFaultServer(t)
			var workers []*faultRun
			for i := range 3 {
				workers = append(workers, faultWorker(t, s.url, fmt.Sprint("WORKER=", i+1), "--run", "-j", "2"))
			}
			p := newClusterRun(t, s.url, args...).start()
			fault(p, s, workers[0], func() {
				for _, number := range []string{"1", "2", "3"} {
					p.write("go"+number, "")
				}
			})
			p.wantLike(args...)
			p.wantAllRun(60)
			left(t, s.url)
		})
	}
}

// TestRunClusterInterrupted sends a signal to a run: its jobs on workers get a TERM and end, and
// no more start. The stubborn ones are killed.
func TestRunClusterInterrupted(t *testing.T) {
	t.Parallel()
	for _, end := range endings {
		if signal.Ignored(end.signal) {
			t.Logf("%v: ignored here", end.signal)
			continue
		}
		for what, then := range map[string]string{"end": "echo >>told; exit 9", "are stubborn": "echo >>told"} {
			t.Run(fmt.Sprint(end.signal, " ", what), func(t *testing.T) {
				t.Parallel()
				url, _ := serve(t)
				worker(t, "--cluster", url, "--run", "-j", "2")
				script := `trap '` + then + `' TERM; echo >>started; while :; do sleep 0.02; done; : $1`
				p := newClusterRun(t, url, append([]string{"--env", "JOBS", "-s", script, ":::"}, items1to(50)...)...)
				jobs := strings.Replace(p.mark, "STINT_FAULT", "JOBS", 1)
				p.Env = append(p.Env, jobs)
				p.start().awaitLines("started", 2)
				p.send(end.signal)
				p.want(end.status, "", "")
				p.awaitLines("told", 2)
				if !eventually(func() bool { return len(markedProcesses(jobs)) == 0 }) {
					t.Errorf("processes of jobs outlive the run: %v", markedProcesses(jobs))
				}
				left(t, url)
				if got := len(p.lines("started")); got != 2 {
					t.Errorf("%d jobs have started, want 2", got)
				}
			})
		}
	}
}

// TestRunClusterStatusAndCancel looks at a run whose jobs wait, and cancels it.
func TestRunClusterStatusAndCancel(t *testing.T) {
	t.Parallel()
	url, _ := serve(t)
	worker(t, "--cluster", url, "--run", "-j", "2")
	script := `trap 'echo >>told; exit 9' TERM; echo >>started; while :; do sleep 0.02; done; : $1`
	p := newClusterRun(t, url, append([]string{"-s", script, ":::"}, items1to(10)...)...).start()
	p.awaitLines("started", 2)
	until(t, url, "two jobs run and eight are queued", func(s *cluster.Status) bool {
		return len(s.Runs) == 1 && s.Runs[0].Task == "run/v1" && s.Runs[0].Waiting == 10 &&
			len(s.Tasks) == 1 && s.Tasks[0].Name == "run/v1" && s.Tasks[0].InFlight == 2 && s.Tasks[0].Queued == 8 &&
			len(s.Workers) == 1 && s.Workers[0].Running == 2 && s.Workers[0].Done == 0
	})
	run := state(t, url).Runs[0].Run
	out, _, _ := runStint(t, "", "status", "--cluster", url)
	if row := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(run) + ` +run/v1 +\S+ \S+ +- +10$`); !row.MatchString(out) {
		t.Errorf("status has no row of the run %s:\n%s", run, out)
	}
	wantRun(t, 1, "", `stint: `+url+`: cluster: cancel "no\tname": `, "cancel", "no\tname", run, "--cluster", url)
	p.want(1, "", run+" was cancelled elsewhere")
	p.awaitLines("told", 2)
	left(t, url)
	if got := len(p.lines("started")); got != 2 {
		t.Errorf("%d jobs have started, want 2", got)
	}
	wantRun(t, 1, "", "the server does not know the run", "cancel", run, "--cluster", url)
	wantRun(t, 0, "no runs\n", "", "status", "--cluster", url)
}

// A faultProxy is between commands and a server.
type faultProxy struct {
	url  string
	sent func(data []byte) // called with what a client has sent; until it returns, the rest waits
	away atomic.Bool       // it accepts no connections

	mu    sync.Mutex
	conns []net.Conn
}

func newFaultProxy(t *testing.T, url string, sent func([]byte)) *faultProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	at := strings.LastIndexAny(url, "@/") + 1
	p := &faultProxy{url: url[:at] + l.Addr().String(), sent: sent}
	t.Cleanup(func() {
		l.Close()
		p.cut()
	})
	go func() {
		for near, err := l.Accept(); err == nil; near, err = l.Accept() {
			far, err := net.Dial("tcp", url[at:])
			if err != nil || p.away.Load() {
				near.Close()
				continue
			}
			p.mu.Lock()
			p.conns = append(p.conns, near, far)
			p.mu.Unlock()
			go func() { _, _ = io.Copy(near, far); near.Close() }()
			go p.forward(far, near)
		}
	}()
	return p
}

func (p *faultProxy) forward(far, near net.Conn) {
	defer far.Close()
	for b := make([]byte, 64<<10); ; {
		n, err := near.Read(b)
		if err != nil {
			return
		}
		if _, err := far.Write(b[:n]); err != nil {
			return
		}
		p.sent(b[:n])
	}
}

// cut ends all connections.
func (p *faultProxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}

// TestServerGoesAway lets the server go away at the first request after the connection: the command
// says that it waits, and goes on.
func TestServerGoesAway(t *testing.T) {
	t.Parallel()
	url, _ := serve(t, "--token", "secret")
	url = withSecret(url, "secret")
	worker(t, "--cluster", url, "--run=echo", "-j", "2") // which a run finds when the server answers
	for _, test := range []struct{ args, first, out string }{
		{"status", "subjects_filter", ""},
		{"purge", "subjects_filter", "removed 0 messages\n"},
		{"dead", "STREAM.MSG.GET.stint-dead", "no dead letters\n"},
		{"run echo ::: a", "stint.workers", "a\n"},
		{"run echo ::: a", "PUB stint.run.", "a\n"},
	} {
		t.Run(test.args+" "+test.first, func(t *testing.T) {
			t.Parallel()
			var proxy *faultProxy
			var once sync.Once
			made := make(chan struct{})
			proxy = newFaultProxy(t, url, func(data []byte) {
				if bytes.Contains(data, []byte(test.first)) {
					once.Do(func() {
						<-made
						proxy.away.Store(true)
						proxy.cut()
					})
				}
			})
			close(made)
			args := strings.Fields(test.args)
			p := newFaultCommand(t, append([]string{args[0], "--cluster", proxy.url}, args[1:]...)...).start()
			if !eventually(func() bool {
				return strings.Contains(p.errs.String(), "stint: the server does not answer; waiting for it\n")
			}) {
				t.Errorf("messages %q, want that it waits", p.errs.String())
			}
			proxy.away.Store(false)
			p.end()
			if code := p.ProcessState.ExitCode(); code != 0 || !strings.HasPrefix(p.out.String(), test.out) {
				t.Errorf("exit status %d, output %q, messages %q; want 0, %q", code, p.out.String(), p.errs.String(), test.out)
			}
		})
	}
}
