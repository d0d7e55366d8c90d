package servers

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/lab/experiment"
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
var small = sizes{target: 2 * time.Millisecond, samples: 1, divisor: 50, few: true, own: true}

func TestRun(t *testing.T) {
	trial.Run(t, run, small, trial.Want{Processors: 2, Cases: 6, Verdicts: 8})
}

// A server that is not installed, or does not start, is named in the log and the
// notes, and the others are measured.
func TestSkipped(t *testing.T) {
	absent, broken := errors.New("absent is not installed"), errors.New("broken")
	servers := []server{
		{name: "absent", find: func() (string, error) { return "", absent }, rows: []row{{name: "a"}}},
		{name: "broken", start: func(context.Context, string, string) (running, error) { return running{}, broken }, rows: []row{{name: "b"}}},
	}
	var log strings.Builder
	s := &experiment.Session{Log: &log}
	l := &lab{sizes: small, dir: t.TempDir(), Bench: s.NewBench("servers", "")}
	for _, s := range servers {
		if err := l.server(t.Context(), s); err != nil {
			t.Error(err)
		}
	}
	r, err := l.Conclude(nil)
	if want := []string{"absent is skipped: absent is not installed.", "broken is skipped: broken."}; err != nil || !slices.Equal(r.Notes, want) {
		t.Errorf("notes %q, %v, want %q", r.Notes, err, want)
	}
	if want := "servers: absent is skipped: absent is not installed\nservers: broken is skipped: broken\n"; log.String() != want {
		t.Errorf("log %q, want %q", log.String(), want)
	}
}

// A server is not even looked for if none of its rows is selected, and is not started
// to list models.
func TestNotStarted(t *testing.T) {
	s := &experiment.Session{Log: io.Discard, Cases: []string{"other"}}
	l := &lab{sizes: small, Bench: s.NewBench("servers", "")}
	defer l.Conclude(nil)
	err := l.server(t.Context(), server{name: "a", links: distances(), rows: []row{{name: "a"}}, find: func() (string, error) {
		t.Error("it is looked for")
		return "", nil
	}})
	if err != nil {
		t.Error(err)
	}
	if names, err := new(experiment.Session).ModelNames(t.Context(), []experiment.Experiment{Experiment}); err != nil || !slices.Contains(names, nameAgain) {
		t.Errorf("the models are %q, %v", names, err)
	}
}

// Each model runs each task of a call once; with errors and refusals, none is lost
// or taken for a success.
func TestModels(t *testing.T) {
	for _, m := range (row{batches: 1, refuses: true}).models() {
		const n = 100
		ran := make([]atomic.Int64, n)
		r := row{n: n, task: func(_ context.Context, i int) error { ran[i].Add(1); return nil }}
		want := int64(1)
		if m.Name == nameAgain {
			want = 2 // calls
		}
		s, err := r.run(m, 1, func(result.Trace) {})
		if err != nil || s.ops != n {
			t.Errorf("%s: %d tasks, %v", m.Name, s.ops, err)
		}
		for i := range ran {
			if got := ran[i].Load(); got != want {
				t.Errorf("%s: task %d ran %d times, want %d", m.Name, i, got, want)
			}
		}
		wrong := errors.New("wrong")
		r.task = func(_ context.Context, i int) error {
			if i == 50 {
				return wrong
			}
			return nil
		}
		if _, err := r.run(m, 1, func(result.Trace) {}); err != wrong {
			t.Errorf("%s: got %v, want the error of a task", m.Name, err)
		}
		if m.Name == nameAll { // not beside refusals
			continue
		}
		var asked atomic.Int64
		r.refuses = true
		r.task = func(context.Context, int) error {
			if asked.Add(1)%3 > 0 {
				return errBusy
			}
			return nil
		}
		if s, err := r.run(m, 1, func(result.Trace) {}); err != nil || s.ops < n || s.ops >= n+maxLimit {
			t.Errorf("%s: %d served, %v; want %d, and those that ran then", m.Name, s.ops, err, n)
		}
	}
}

// A call that does not run all tasks is found.
func TestCheck(t *testing.T) {
	c := &calls{row: row{n: 2, task: func(context.Context, int) error { return nil }}}
	if err := c.check(); err == nil {
		t.Error("no task ran")
	}
	c.do(t.Context(), 0)
	if err := c.check(); err == nil {
		t.Error("one of two tasks ran")
	}
	c.do(t.Context(), 1)
	if err := c.check(); err != nil {
		t.Error(err)
	}
}

// A call of ten tasks a second ends after its time, in virtual time.
func TestCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := row{n: 1000, cap: time.Second, task: func(context.Context, int) error { time.Sleep(100 * time.Millisecond); return nil }}
		c := &calls{row: r}
		goroutines(1, r.n, c.do, nil)
		if served, took := c.served.Load(), c.took(); served != 11 || took != 1100*time.Millisecond || c.check() != nil {
			t.Errorf("%d tasks in %v, %v", served, took, c.check())
		}
	})
}

// The number of tasks is that of the best limit: of 20 slots of 10 ms, 2,000 a second,
// less those of a last round that is not full.
func TestSized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{}, 20)
		r, err := row{task: func(context.Context, int) error {
			free <- struct{}{}
			time.Sleep(10 * time.Millisecond)
			<-free
			return nil
		}}.sized(time.Second)
		if err != nil || r.n > 2000 || r.n < 1950 {
			t.Errorf("%d tasks, %v, want 1950 to 2000", r.n, err)
		}
	})
}

// The limit rises by a fifth of the queue size while the latency is steady, falls to
// nine tenths when it doubles, and stays if half of the permits are free.
func TestGradient(t *testing.T) {
	g := newGradient(256)
	for range warmup {
		g.update(1e6, 20)
	}
	steady := 20 + 0.8*warmup
	if diff := g.limit - steady; diff > 1e-9 || diff < -1e-9 {
		t.Errorf("limit %v, want %v", g.limit, steady)
	}
	before := g.limit
	if g.update(1e6, 1); g.limit != before {
		t.Errorf("limit %v with one task, want %v", g.limit, before)
	}
	if g.update(1e12, 256); g.limit != before*0.8+(before*0.5+queueSize)*0.2 {
		t.Errorf("limit %v after a latency far above, want nine tenths of %v", g.limit, before)
	}
	for range 1000 {
		g.update(1e6, 256)
	}
	if g.limit != 256 {
		t.Errorf("limit %v, want 256", g.limit)
	}
}

// Never more than the limit run.
func TestGate(t *testing.T) {
	g := newGradient(3)
	g.limit = 3
	r := row{n: 100, task: func(context.Context, int) error { time.Sleep(time.Millisecond); return nil }}
	c := &calls{row: r}
	goroutines(maxLimit, r.n, c.do, g)
	if c.Peak() != 3 || c.check() != nil {
		t.Errorf("%d at once, %v; want 3", c.Peak(), c.check())
	}
}

// 1,000 a second are served, and a hundredth of that at once.
func TestRefuser(t *testing.T) {
	s, now := &refuser{perSecond: 1000}, time.Now()
	ask := func(n int) (served int) {
		for range n {
			if s.take(now) {
				served++
			}
		}
		return served
	}
	for i, c := range []struct {
		after time.Duration
		asked int
		want  int
	}{{0, 20, 10}, {0, 1, 0}, {5 * time.Millisecond, 20, 5}, {time.Hour, 20, 10}} {
		now = now.Add(c.after)
		if got := ask(c.asked); got != c.want {
			t.Errorf("%d: %d of %d served, want %d", i, got, c.asked, c.want)
		}
	}
}

// A process that ends before it is ready is told with its output.
func TestLaunch(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	never := errors.New("not ready")
	_, err = launch(t.Context(), exec.Command(sh, "-c", "echo because; exit 3"), func(context.Context) error { return never })
	if !errors.Is(err, never) || !strings.Contains(err.Error(), "because") {
		t.Errorf("got %v", err)
	}
	p, err := launch(t.Context(), exec.Command(sh, "-c", "exec sleep 100"), func(context.Context) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	p.stop()
	select {
	case <-p.ended:
	default:
		t.Error("the process has not ended")
	}
}

func TestFind(t *testing.T) {
	if _, err := find("no-such-server", t.TempDir()); err == nil || err.Error() != "no-such-server is not installed" {
		t.Errorf("got %v", err)
	}
	dir := t.TempDir()
	for _, v := range []string{"15", "16"} {
		os.MkdirAll(dir+"/"+v+"/bin", 0o755)
		os.WriteFile(dir+"/"+v+"/bin/no-such-server", nil, 0o755)
	}
	if path, err := find("no-such-server", dir+"/*/bin"); err != nil || path != dir+"/16/bin/no-such-server" {
		t.Errorf("got %s, %v", path, err)
	}
}

// The tasks of installed servers succeed, near and over a proxy, and nothing is left
// running.
func TestInstalled(t *testing.T) {
	for _, s := range []server{postgres(), nginx(), redisServer()} {
		t.Run(s.name, func(t *testing.T) {
			if _, err := s.find(); err != nil {
				t.Skip(err)
			}
			dir, err := os.MkdirTemp("", "stint-lab-") // short, for a socket
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			at, err := s.open(t.Context(), dir, false)
			if err != nil {
				t.Skipf("does not start here: %v", err)
			}
			defer at.stop()
			proxied, stop, err := child{To: at.address, RoundTrip: time.Millisecond}.start(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			for _, address := range []string{at.near, proxied} {
				tasks, end, err := s.connect(t.Context(), address)
				if err != nil {
					t.Fatal(err)
				}
				if len(tasks) != len(s.rows) {
					t.Errorf("%d tasks, want %d", len(tasks), len(s.rows))
				}
				for i, task := range tasks {
					for k := range 100 {
						if err := task(t.Context(), k*7919); err != nil {
							t.Errorf("%s: task %d: %v", s.rows[i].name, k, err)
							break
						}
					}
				}
				end()
			}
		})
	}
}
