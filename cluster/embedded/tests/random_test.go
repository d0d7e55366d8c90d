package tests

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-go/stint/cluster"
)

// Many concurrent runs of all kinds, on workers that start and stop. In the end nothing is
// left on the server, and no goroutine in this process. The test does not run in parallel,
// since it counts goroutines.
func TestManyRunsAtOnce(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	where, j := newServer(t), newJournal(t)
	t.Run("runs", func(t *testing.T) {
		c := connect(t, where, cluster.QueueLimit(64))
		task := newTask(j, cluster.Lease(short), cluster.Retry(1, time.Millisecond))
		stop := make(chan struct{})
		var workers, runs sync.WaitGroup
		for k := range 3 {
			r := rand.New(rand.NewPCG(seed, uint64(k)))
			workers.Go(func() { comeAndGo(t, r, where, j, task, stop) })
		}
		for k := range 6 {
			r := rand.New(rand.NewPCG(seed, uint64(100+k)))
			runs.Go(func() {
				for i := range 4 {
					randomRun(t, r, c, task, fmt.Sprint("run-", k, "-", i))
				}
			})
		}
		runs.Wait()
		close(stop)
		workers.Wait()
		look(t, where).nothingLeft(t)
	})
	noGoroutines(t)
}

// comeAndGo runs one worker after another, each for a short time. Some are drained and some
// are cut off.
func comeAndGo(t *testing.T, r *rand.Rand, where string, j journal, task *work, stop <-chan struct{}) {
	for {
		c, err := cluster.Connect(bounded(t), where, cluster.QueueLimit(64))
		if err != nil {
			t.Error(err)
			return
		}
		c.Handle(task)
		ctx, cancel := context.WithCancel(context.Background())
		ended, slots := make(chan error, 1), 1+r.IntN(6)
		go func() { ended <- cluster.Serve(ctx, c, cluster.Limit(slots)) }()
		last := false
		select {
		case <-time.After(time.Duration(r.IntN(200)) * time.Millisecond):
		case <-stop:
			last = true
		}
		if r.IntN(3) == 0 && !last {
			c.Close()
			<-ended
		} else {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("Serve: %v", err)
			}
			c.Close()
		}
		cancel()
		if last {
			return
		}
	}
}

// randomRun makes one run, and checks its outcome.
func randomRun(t *testing.T, r *rand.Rand, c *cluster.Client, task *work, name string) {
	all := items(r.IntN(80), item{})
	bad := map[int]bool{}
	for i := range all {
		all[i].For = time.Duration(r.IntN(2000)) * time.Microsecond
		if r.IntN(40) == 0 {
			bad[i] = true
			all[i].Do = []string{"fail as known", "panic", "goexit"}[r.IntN(3)]
		}
	}
	var opts []cluster.Option
	keep := r.IntN(2) == 0
	if keep {
		opts = append(opts, cluster.KeepGoing())
	}
	if r.IntN(2) == 0 {
		opts = append(opts, cluster.Limit(1+r.IntN(8)))
	}
	if r.IntN(2) == 0 {
		opts = append(opts, cluster.Queue(1+r.IntN(40)))
	}
	if r.IntN(2) == 0 {
		opts = append(opts, cluster.Name(name))
	}
	ctx, cancel := context.WithCancelCause(bounded(t))
	defer cancel(nil)
	gone := errors.New("gone")
	canceled := r.IntN(4) == 0
	if canceled {
		time.AfterFunc(time.Duration(r.IntN(50))*time.Millisecond, func() { cancel(gone) })
	}
	if r.IntN(3) == 0 {
		leave(t, ctx, r.IntN(len(all)+1), c, task, all, bad, keep, canceled, opts)
		return
	}
	outs, err := cluster.Map(ctx, c, task, all, opts...)
	settle(t, outs, err, all, bad, keep, canceled && errors.Is(err, gone))
}

// settle checks the results of a Map. After a cancellation some may be missing.
func settle(t *testing.T, outs []outcome, err error, all []item, bad map[int]bool, keep, canceled bool) {
	equal(t, "number of results", len(outs), len(all))
	if canceled {
		return
	}
	if (err != nil) != (len(bad) > 0) {
		t.Errorf("error: got %v with %d bad items of %d", err, len(bad), len(all))
	}
	if !keep && err != nil {
		return
	}
	errs := itemErrors(t, err)
	for i, out := range outs {
		if bad[i] != (errs[i] != nil) || !bad[i] && out.N != answer(i) {
			t.Errorf("item %d: got %+v, %v", i, out, errs[i])
		}
	}
}

// leave ranges over a sequence and leaves the loop after n results.
func leave(t *testing.T, ctx context.Context, n int, c *cluster.Client, task *work, all []item, bad map[int]bool, keep, canceled bool, opts []cluster.Option) {
	i := 0
	for out, err := range cluster.MapSeq(ctx, c, task, slices.Values(all), opts...) {
		switch {
		case i == n:
			return
		case err == nil && (bad[i] || out.N != answer(i)):
			t.Errorf("result %d is %+v", i, out)
		case err != nil && keep && !bad[i] && !canceled:
			t.Errorf("result %d: %v", i, err)
		case err != nil && len(bad) == 0 && !canceled:
			t.Errorf("result %d: %v without a bad item", i, err)
		}
		i++
	}
}

// noGoroutines fails the test if the library has goroutines in this process, when they have had
// time to end.
func noGoroutines(t *testing.T) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if left = goroutines(); len(left) == 0 {
			return
		}
	}
	t.Errorf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
}

// goroutines returns the stacks of the library's goroutines, and of those of the client
// of NATS.
func goroutines() []string {
	buf := make([]byte, 1<<20)
	for n := 0; ; buf = make([]byte, 2*len(buf)) {
		if n = runtime.Stack(buf, true); n < len(buf) {
			buf = buf[:n]
			break
		}
	}
	return slices.DeleteFunc(strings.Split(string(buf), "\n\n"), func(stack string) bool {
		return !strings.Contains(stack, "stint/cluster.") && !strings.Contains(stack, "nats-io/nats.go.")
	})
}
