package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestRunClusterRandomFaults has runs on a cluster whose workers and server are killed or restarted,
// and whose connections are cut, at random, while other runs start all the time. One run after the
// other is killed and resumed. Each item has its output once, whole, and in order.
//
// It takes three seconds, or as long as STINT_FAULTS says, such as 10m; STINT_SEED repeats what is
// chosen, but not when it happens.
func TestRunClusterRandomFaults(t *testing.T) {
	t.Parallel()
	length, seed := 3*time.Second, rand.Uint64()
	if text := os.Getenv("STINT_FAULTS"); text != "" {
		var err error
		length, err = time.ParseDuration(text)
		must(t, err)
	}
	if text := os.Getenv("STINT_SEED"); text != "" {
		_, err := fmt.Sscan(text, &seed)
		must(t, err)
	}
	f := newRandomFaults(t, seed, time.Now().Add(length))
	var runs, faults sync.WaitGroup
	faults.Go(func() { f.repeat(1, f.fault) })
	runs.Go(func() { f.repeat(2, f.short) })
	runs.Go(func() { f.repeat(3, f.short) })
	runs.Go(func() { f.repeat(4, f.long) })
	runs.Go(func() { f.repeat(5, f.resumed) })
	faults.Wait()
	runs.Wait() // the cluster is whole by now
	t.Logf("STINT_SEED=%d, %v: %s", seed, length, f.counts())
	if t.Failed() {
		t.Log("faults:\n" + f.log.String())
	}
	if length >= time.Minute { // the workers remove what killed submitters have left
		leftWithin(t, f.proxy.url, patience)
	}
}

// killsApart is the time between the kills of two workers. A task of which two workers die while they
// run nothing else becomes a dead letter: it is not to happen to one that only waits for the server.
const killsApart = 20 * time.Second

// randomFaults is a cluster with faults. Clients reach the server through a proxy.
type randomFaults struct {
	t       *testing.T
	seed    uint64
	end     time.Time
	server  *faultServer
	proxy   *faultProxy
	workers []*faultRun
	killed  time.Time // the last of them
	pause   int       // between faults, in milliseconds, at most

	mu    sync.Mutex
	log   strings.Builder
	count map[string]int
	items atomic.Int64
}

func newRandomFaults(t *testing.T, seed uint64, end time.Time) *randomFaults {
	t.Helper()
	f := &randomFaults{t: t, seed: seed, end: end, pause: 8000, server: newFaultServer(t, "--token", "secret"), count: map[string]int{}}
	f.proxy = newFaultProxy(t, withSecret(f.server.url, "secret"), func([]byte) {})
	if time.Until(end) < time.Minute { // otherwise leases have to survive many of them
		f.pause = 500
	}
	for range 3 {
		f.workers = append(f.workers, f.worker())
	}
	return f
}

func (f *randomFaults) worker() *faultRun {
	w := newFaultCommand(f.t, "work", "--cluster", f.proxy.url, "--run", "-j", "3")
	w.start()
	f.note("worker %d starts", w.Process.Pid)
	return w
}

// repeat calls do until the end, each time with other numbers.
func (f *randomFaults) repeat(stream uint64, do func(*rand.Rand)) {
	for r := rand.New(rand.NewPCG(f.seed, stream)); time.Now().Before(f.end) && !f.t.Failed(); {
		do(r)
	}
}

// note logs a fault, with the time, for the search of a cause.
func (f *randomFaults) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fmt.Fprintf(&f.log, time.Now().Format("15:04:05.000 ")+format+"\n", args...)
}

// counted counts what has happened.
func (f *randomFaults) counted(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count[what]++
}

func (f *randomFaults) counts() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for what, n := range f.count {
		all = append(all, fmt.Sprint(n, " ", what))
	}
	slices.Sort(all)
	return fmt.Sprintf("%s; %d items", strings.Join(all, ", "), f.items.Load())
}

// fault makes a fault, and mends it.
func (f *randomFaults) fault(r *rand.Rand) {
	time.Sleep(time.Duration(500+r.IntN(f.pause)) * time.Millisecond)
	signal, how := syscall.SIGKILL, "killed"
	if r.IntN(3) == 0 {
		signal, how = syscall.SIGTERM, "terminated"
	}
	switch away := time.Duration(r.IntN(1000)) * time.Millisecond; r.IntN(4) {
	case 0:
		f.note("server %s for %v", how, away)
		f.server.send(signal)
		<-f.server.done
		time.Sleep(away)
		f.server.restart()
		f.counted("servers " + how)
	case 1:
		f.note("cut for %v", away)
		f.proxy.away.Store(true)
		f.proxy.cut()
		time.Sleep(away)
		f.proxy.away.Store(false)
		f.counted("cuts")
	default:
		if time.Since(f.killed) < killsApart {
			signal, how = syscall.SIGTERM, "terminated"
		} else if signal == syscall.SIGKILL {
			f.killed = time.Now()
		}
		i := r.IntN(len(f.workers))
		f.note("worker %d %s", f.workers[i].Process.Pid, how)
		f.workers[i].send(signal)
		if signal == syscall.SIGKILL {
			<-f.workers[i].done
		}
		f.workers[i] = f.worker()
		f.counted("workers " + how)
	}
}

// The output of an item: of one in seven it is sent in parts.
const randomOutput = `n=$(($1 * 7919 % 2000)); [ $(($1 % 7)) != 0 ] || n=$((130000 + $1 * 1013 % 600000)); yes $1 | head -c $n; echo; echo err $1 >&2`

func outputOf(item int) string {
	n := item * 7919 % 2000
	if item%7 == 0 {
		n = 130_000 + item*1013%600_000
	}
	line := fmt.Sprint(item, "\n")
	return strings.Repeat(line, n/len(line)+1)[:n] + "\n"
}

// run starts a run of n random items. Its end is waited for by finish.
func (f *randomFaults) run(r *rand.Rand, n int, flags ...string) (p *faultRun, items []int) {
	args := append(flags, "-s", randomOutput, ":::")
	for range n {
		items = append(items, r.IntN(10_000))
		args = append(args, fmt.Sprint(items[len(items)-1]))
	}
	return newClusterRun(f.t, f.proxy.url, args...), items
}

// finish waits for the end of a run. It reports false if the run has not reached the server at its
// start: that it says, and nothing has been run.
func (f *randomFaults) finish(p *faultRun) bool {
	select {
	case <-p.done:
	case <-time.After(patience):
		p.send(syscall.SIGQUIT)
		<-p.done
		f.t.Errorf("%.200q does not end: %s", p.Args, p.errs.String())
		return false
	}
	switch errs := p.errs.String(); {
	case p.ProcessState.ExitCode() == 0:
		return true
	case p.ProcessState.ExitCode() == 1 && p.out.Len() == 0 && strings.Contains(errs, "connect to "):
		f.counted("runs without a server")
		time.Sleep(100 * time.Millisecond)
	default:
		f.t.Errorf("%.200q: %v, messages %.2000q", p.Args, p.ProcessState, errs)
	}
	return false
}

// short has a run of a few items.
func (f *randomFaults) short(r *rand.Rand) {
	f.uninterrupted(r, 1+r.IntN(6), "short runs")
}

// long has a run that sees many faults.
func (f *randomFaults) long(r *rand.Rand) {
	f.uninterrupted(r, 200, "long runs", "-j", fmt.Sprint(1+r.IntN(8)))
}

// uninterrupted has a run that no fault ends.
func (f *randomFaults) uninterrupted(r *rand.Rand, n int, what string, flags ...string) {
	p, items := f.run(r, n, flags...)
	if p.start(); !f.finish(p) {
		return
	}
	var out, errs strings.Builder
	for _, item := range items {
		out.WriteString(outputOf(item))
		fmt.Fprintf(&errs, "err %d\n", item)
	}
	if got := p.out.String(); got != out.String() {
		f.t.Errorf("%.200q: %d bytes of output, want %d: it %.300s", p.Args, len(got), out.Len(), difference(got, out.String()))
	}
	if got := p.jobErrors(); got != errs.String() {
		f.t.Errorf("%.200q: errors %.300q, want %.300q", p.Args, got, errs.String())
	}
	f.counted(what)
	f.items.Add(int64(n))
	p.out, p.errs = bytes.Buffer{}, syncBuilder{} // there are many runs
}

// resumed has a run that is killed again and again, and continued.
func (f *randomFaults) resumed(r *rand.Rand) {
	p, items := f.run(r, 100, "--joblog", "log", "--resume", "--results", "results")
	dir, args := p.Dir, p.Args[4:]
	for kills := r.IntN(4); ; {
		p = newClusterRun(f.t, f.proxy.url)
		p.Args, p.Dir = append(p.Args[:4], args...), dir
		before := len(p.logged())
		p.start()
		if kills > 0 {
			eventually(func() bool { return len(p.logged()) > before || p.ended() })
			time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
			_ = p.Process.Kill()
			<-p.done
			kills--
			f.counted("submitters killed")
		} else if f.finish(p) {
			break
		} else if f.t.Failed() {
			return
		}
	}
	files := readTree(f.t, filepath.Join(dir, "results"))
	for i, item := range items {
		if got, want := files[fmt.Sprint(i+1, "/stdout")], outputOf(item); got != want {
			f.t.Errorf("item %d of %.200q: the result %.300s", item, p.Args, difference(got, want))
		}
	}
	if got := len(p.logged()); got != len(items) {
		f.t.Errorf("the log has %d jobs, want %d", got, len(items))
	}
	f.counted("resumed runs")
	f.items.Add(int64(len(items)))
}
