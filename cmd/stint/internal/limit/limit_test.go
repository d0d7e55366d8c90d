package limit

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cmd/stint/internal/machine"
	"github.com/stint-go/stint/cmd/stint/internal/process"
)

func TestNew(t *testing.T) {
	most := max(1, Files()/filesPerJob)
	for _, c := range []struct {
		n, want int
		reason  string
	}{
		{1, 1, ""}, {3, min(3, most), ""}, {math.MaxInt, most, ""}, {0, min(machine.CPUs(), most), "as many jobs as CPUs, at first"},
	} {
		l := New(Jobs{n: c.n}, 0, nil, nil)
		if s := l.State(); s.Limit != c.want || s.Reason != c.reason || s.History != nil || l.Limiter().Current() != c.want {
			t.Errorf("%d: %+v, limit %d, want %d", c.n, s, l.Limiter().Current(), c.want)
		}
		l.Close()
	}
}

// still returns a limit that looks only when it is told to. It has so many jobs.
func still(adaptive bool, limit, running int) (*Limit, []*process.Process) {
	l := &Limit{most: 100, bound: limit, limiter: stint.Auto(1, 100), running: map[*process.Process]*sample{}, from: nothing, say: func(string) {}}
	l.demand.cpus = 2
	if !adaptive {
		l.jobs = 100
	}
	l.setBound(limit, "")
	l.noted, l.history = limit, nil
	var all []*process.Process
	for range running {
		all = append(all, new(process.Process))
		l.Started(all[len(all)-1])
		l.running[all[len(all)-1]] = newSample(start)
	}
	return l, all
}

var start = time.Unix(1e9, 0)

// nothing are sensors of 2 CPUs that know of nothing else.
var nothing = sensors{
	cpus:   func() float64 { return 2 },
	memory: func() (machine.Memory, bool) { return machine.Memory{}, false },
	kills:  func() int64 { return 0 },
	lives:  func(int) bool { return true },
	usage:  func(*process.Process) (machine.Usage, bool) { return machine.Usage{}, false },
}

var lookCases = []struct {
	name         string
	adaptive     bool
	now, running int
	usage        machine.Usage // of each job, in 100 ms
	available    int64         // MiB of 4000; 0: not known
	limit        int
	reason       string
}{
	{"compute", true, 2, 2, machine.Usage{CPU: 100 * ms}, 0, 2, ""},
	{"compute, too many", true, 10, 10, machine.Usage{CPU: 20 * ms, Wait: 80 * ms}, 0, 2, "a job wants a CPU 100 %"},
	{"sleep", true, 2, 2, machine.Usage{CPU: ms}, 4000, 8, "a job wants a CPU 0.01 %"},
	{"few run", true, 10, 7, machine.Usage{CPU: ms}, 4000, 10, ""},
	{"memory", true, 4, 4, machine.Usage{CPU: ms, RSS: 300 * mib}, 1700, 9, "memory: 1700 MiB available, up to 300 MiB a job"},
	{"memory is short", true, 4, 4, machine.Usage{CPU: ms, RSS: 300 * mib}, 100, 3, "memory: 100 MiB"},
	{"fixed", false, 50, 4, machine.Usage{CPU: ms, RSS: 300 * mib}, 1700, 9, "memory: 1700 MiB"},
	{"fixed, much lower", false, 4, 4, machine.Usage{CPU: ms, RSS: 30 * mib}, 1700, 16, "how much memory"},
	{"fixed, not known", false, 100, 4, machine.Usage{CPU: ms, RSS: mib}, 0, 100, ""},
}

func TestLook(t *testing.T) {
	for _, c := range lookCases {
		l, _ := still(c.adaptive, c.now, c.running)
		l.memory.spare, l.memory.peak = 200*mib, max(ended, float64(c.usage.RSS))
		from := &l.from
		from.usage = func(*process.Process) (machine.Usage, bool) { return c.usage, true }
		from.memory = func() (machine.Memory, bool) {
			return machine.Memory{Available: c.available * mib, Total: 4000 * mib, Bound: "memory"}, c.available > 0
		}
		for _, s := range l.running {
			s.size.sampled(start, machine.Usage{RSS: c.usage.RSS}, 0) // it does not grow
		}
		l.look(start.Add(100*ms), 100*ms)
		s := l.State()
		s.Limit = l.bound
		if s.Limit != c.limit || !strings.HasPrefix(s.Reason, c.reason) || c.reason == "" && s.Reason != "" {
			t.Errorf("%s: %+v, want %d, %q", c.name, s, c.limit, c.reason)
		}
		if changed := len(l.history) > 0; changed != (c.limit != c.now) {
			t.Errorf("%s: history %+v", c.name, l.history)
		}
	}
}

// TestSample has more jobs than are sampled, some of which end meanwhile or are not found.
func TestSample(t *testing.T) {
	l, all := still(true, 100, 100)
	from, asked := &l.from, 0
	from.usage = func(p *process.Process) (machine.Usage, bool) {
		asked++
		return machine.Usage{CPU: 20 * ms, RSS: 10 * mib}, true
	}
	now := start.Add(100 * ms)
	l.sample(now)
	if s := l.memory.sizes(l.running); s.all != 10*mib*maxSampled || asked != maxSampled || s.need != 20*mib {
		t.Errorf("%+v of %d jobs", s, asked)
	}
	if !near(l.demand.used, 0.02*maxSampled) || !near(l.demand.wall, 0.1*maxSampled) {
		t.Errorf("%+v", l.demand)
	}
	for _, p := range all { // each counts once
		l.Finished(p, process.Result{Start: start, Elapsed: 200 * ms, CPU: 30 * ms})
	}
	if !near(l.demand.used, 3) || !near(l.demand.wall, 20) || len(l.running) > 0 {
		t.Errorf("%+v, %d run", l.demand, len(l.running))
	}
	if l.sample(now); asked != maxSampled {
		t.Errorf("%d jobs, after none was left", asked)
	}
}

func TestSampleOfEnded(t *testing.T) {
	l, all := still(true, 4, 4)
	from := &l.from
	if l.sample(start.Add(time.Second)); l.demand.wall != 0 {
		t.Errorf("%+v of jobs that are not found", l.demand)
	}
	from.usage = func(p *process.Process) (machine.Usage, bool) {
		l.Finished(p, process.Result{Start: start, Elapsed: 100 * ms, CPU: 10 * ms})
		return machine.Usage{CPU: time.Hour, RSS: 1 << 40}, true // of a stranger with its number
	}
	if l.sample(start.Add(time.Second)); !near(l.demand.wall, 0.4) || !near(l.demand.used, 0.04) || l.memory.peak != ended {
		t.Errorf("%+v, peak %v of %d jobs", l.demand, l.memory.peak, len(all))
	}
}

// TestStopped wants that the time in which jobs were stopped says nothing about them.
func TestStopped(t *testing.T) {
	p := new(process.Process)
	l := &Limit{running: map[*process.Process]*sample{p: newSample(start)}}
	l.stopped(time.Minute)
	l.demand.sampled(l.running[p], start.Add(time.Minute+10*ms), 10*ms, 0, false)
	if !near(l.demand.wall, 0.01) || !near(l.demand.want, 0.01) {
		t.Errorf("the job wanted a CPU for %v of %v s, want 0.01 of 0.01", l.demand.want, l.demand.wall)
	}
}

// TestCPUsChange has a number of CPUs that changes while jobs compute.
func TestCPUsChange(t *testing.T) {
	l, all := still(true, 8, 8)
	now, used, cpus := start, time.Duration(0), 8.0
	l.demand.cpus, l.memory.peak = cpus, ended
	l.from.cpus = func() float64 { return cpus }
	l.from.usage = func(*process.Process) (machine.Usage, bool) {
		return machine.Usage{CPU: used, Wait: now.Sub(start) - used, Ready: true}, true
	}
	for _, cpus = range []float64{8, 3, 0.5, 4} {
		for range 30 { // 3 s
			now, used = now.Add(100*ms), used+time.Duration(100*min(1, cpus/float64(len(all)))*float64(ms))
			l.look(now, 100*ms)
		}
		if got := l.bound; got != machine.Whole(cpus) {
			t.Errorf("%v CPUs: limit %d: %+v", cpus, got, l.State())
		}
		for len(all) > l.bound { // as some end and no others start
			delete(l.running, all[0])
			all = all[1:]
		}
		for len(all) < l.bound {
			p := new(process.Process)
			all, l.running[p] = append(all, p), newSample(now)
			l.running[p].cpu, l.running[p].wait = used, now.Sub(start)-used
		}
	}
}

// TestSystem has a limit that falls, rises after a pause, and falls again.
func TestSystem(t *testing.T) {
	var s system
	now := start
	for i, c := range []struct {
		refused int // jobs; 0: none
		after   time.Duration
		want    int
	}{
		{0, time.Hour, math.MaxInt}, {10, 0, 10}, {0, minPause - 1, 10}, {0, 1, 12}, {0, minPause, 15},
		{12, 0, 12}, {11, minPause, 11}, {0, minPause, 13}, // another one at the same time; it has doubled
		{5, maxPause, 6}, {5, maxPause, 6}, {5, maxPause, 6}, {5, maxPause, 6}, {5, maxPause, 6}, {5, maxPause - 1, 5}, {0, 1, 6},
	} {
		if c.refused > 0 {
			s.refused(c.refused, "", now)
		}
		now = now.Add(c.after)
		if got := s.limit(now); got != c.want {
			t.Errorf("%d: %d, want %d", i, got, c.want)
		}
	}
}
