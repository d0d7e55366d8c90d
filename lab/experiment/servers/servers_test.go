package servers

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/child"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/trial"
)

func TestMain(m *testing.M) {
	if status, ok := Child(); ok {
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// small are sizes for servers of our own.
var small = sizes{target: 2 * time.Millisecond, divisor: 50, step: 16, links: 1, own: true,
	gateway: gateway{capacity: 2, service: time.Millisecond, patience: 20 * time.Millisecond, warmup: 10 * time.Millisecond, length: 20 * time.Millisecond}}

func TestRun(t *testing.T) {
	trial.Run(t, run, small, trial.Want{Processors: 2, Cases: 6, Verdicts: 12})
}

// A server that does not start is named in the log and the notes. One of which no row is
// selected is not even started, nor are any to list models.
func TestSkipped(t *testing.T) {
	var log strings.Builder
	s := &experiment.Session{Log: &log, Cases: []string{"a"}}
	l := &lab{sizes: small, dir: t.TempDir(), Bench: s.NewBench("servers", "")}
	broken := func(context.Context, string) (*child.Process, string, error) { return nil, "", errors.New("broken") }
	for _, name := range []string{"a", "b"} {
		if err := l.server(t.Context(), server{name: name, start: broken, links: []link{{}}, rows: []row{{name: name}}}); err != nil {
			t.Error(err)
		}
	}
	r, err := l.Conclude(nil)
	if want := []string{"a is skipped: broken."}; err != nil || !slices.Equal(r.Notes, want) || log.String() != "servers: a is skipped: broken\n" {
		t.Errorf("notes %q, log %q, %v, want %q", r.Notes, log.String(), err, want)
	}
}

// Each model runs each task of a batch once, and the error of a task is not lost.
func TestModels(t *testing.T) {
	const n = 100
	wrong := errors.New("wrong")
	var ran [n]atomic.Int64
	var failing int
	r := row{sizes: sizes{step: 16}, batch: n, task: func(_ context.Context, i int) error {
		if ran[i].Add(1); i == failing {
			return wrong
		}
		return nil
	}}
	for _, m := range r.models() {
		want := int64(1)
		if m.Name == nameAgain {
			want = 2 // calls
		}
		clear(ran[:])
		failing = -1
		if _, _, err := r.sample(m, 1, func(result.Trace) {}); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		for i := range ran {
			if got := ran[i].Load(); got != want {
				t.Errorf("%s: task %d ran %d times, want %d", m.Name, i, got, want)
			}
		}
		failing = 50
		if _, _, err := r.sample(m, 1, func(result.Trace) {}); err != wrong {
			t.Errorf("%s: got %v, want the error of a task", m.Name, err)
		}
	}
}

// A call that does not run all tasks of a batch, or serves none, is found.
func TestCheck(t *testing.T) {
	r := row{batch: 2, task: func(context.Context, int) error { return nil }}
	for calls := range 3 {
		_, err := r.call(func(f do) {
			for i := range calls {
				f(i)
			}
		})
		if (err == nil) != (calls == 2) {
			t.Errorf("%d of 2 tasks: %v", calls, err)
		}
	}
}

// A call of ten tasks a second ends after its time, in virtual time.
func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := row{sizes: sizes{target: time.Second}, task: func(context.Context, int) error { time.Sleep(100 * time.Millisecond); return nil }}
		c, err := r.call(func(f do) { goroutines(1, r.tasks(), f) })
		if served := c.served.Load(); served != 11 || c.took != 1100*time.Millisecond || err != nil {
			t.Errorf("%d tasks in %v, %v", served, c.took, err)
		}
	})
}

func TestQuantile(t *testing.T) {
	c := count{served: []time.Duration{4, 2, 1, 3}, patience: 9}
	if half, all := c.quantile(0.5), c.quantile(0.99); half != 2 || all != 4 {
		t.Errorf("got %v and %v, want 2 and 4", half, all)
	}
	if none := (&count{patience: 9}).quantile(0.5); none != 9 {
		t.Errorf("got %v of no requests, want 9", none)
	}
}

// A limit of the gateway bounds what is in the backend, if no client gives up: the proxy of
// one that does returns before the backend has noticed.
func TestGateway(t *testing.T) {
	m, g := new(measure.Meter), small.gateway
	g.patience = time.Hour
	if err := g.trial(m, func() *stint.Limiter { return stint.Limit(2) }); err != nil || m.Sample()[measure.AtOnce] != 2 {
		t.Errorf("%v at once, %v, want 2", m.Sample()[measure.AtOnce], err)
	}
}

// A program that ends before it is ready is told with its output, and one that is ready ends
// when its standard input does, as it does when the process that measures it is gone.
func TestProgram(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	never := errors.New("not ready")
	s := program{
		name:    "sh",
		prepare: func(_, _, _ string) ([]string, error) { return nil, nil },
		args:    func(string, string) []string { return []string{"-c", "echo because; exit 3"} },
		ready:   func(context.Context, string) error { return never },
	}
	if _, _, err := s.start(t.Context(), t.TempDir()); !errors.Is(err, never) || !strings.Contains(err.Error(), "because") {
		t.Errorf("got %v", err)
	}
	s.args = func(string, string) []string { return []string{"-c", "exec sleep 100"} }
	s.ready = func(context.Context, string) error { return nil }
	p, _, err := s.start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.End(); err != nil {
		t.Error(err)
	}
}

func TestFind(t *testing.T) {
	s := program{name: "no-such-server", folders: []string{t.TempDir() + "/*/bin"}}
	if _, err := s.find(); err == nil || err.Error() != "no-such-server is not installed" {
		t.Errorf("got %v", err)
	}
	for _, v := range []string{"15", "16"} {
		dir := strings.Replace(s.folders[0], "*", v, 1)
		os.MkdirAll(dir, 0o755)
		os.WriteFile(dir+"/no-such-server", nil, 0o755)
	}
	if path, err := s.find(); err != nil || !strings.HasSuffix(path, "/16/bin/no-such-server") {
		t.Errorf("got %s, %v", path, err)
	}
}

// The tasks of installed servers succeed, near and over a proxy.
func TestInstalled(t *testing.T) {
	for _, s := range (sizes{divisor: 1}).servers()[4:] {
		t.Run(s.name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "stint-lab-") // short, for a socket
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			os.Chmod(dir, 0o711)
			p, near, err := s.start(t.Context(), dir)
			if err != nil {
				t.Skipf("does not start here: %v", err)
			}
			defer p.End()
			q, far, err := role{To: near, RoundTrip: time.Millisecond}.start(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			defer q.End()
			for _, address := range []string{near, far} {
				tasks, end, err := s.connect(t.Context(), address)
				if err != nil {
					t.Fatal(err)
				}
				for i, r := range s.rows {
					for k := range 100 {
						if err := tasks[i](t.Context(), k*7919); err != nil {
							t.Errorf("%s: task %d: %v", r.name, k, err)
							break
						}
					}
				}
				end()
			}
		})
	}
}
