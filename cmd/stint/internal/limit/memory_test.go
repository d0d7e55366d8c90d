package limit

import (
	"context"
	"io"
	"math"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/machine"
	"github.com/stint-go/stint/cmd/stint/internal/process"
)

const mib = 1 << 20

var memoryCases = []struct {
	name             string
	spare, need      float64 // MiB
	running, rss     int     // MiB
	available, total int64   // MiB
	want             int
}{
	{"nothing known", 0, 0, 2, 0, 1000, 4000, math.MaxInt},
	{"nothing known, nothing left", 0, 0, 2, 0, 100, 4000, 2},
	{"room beside jobs that grow", 500, 300, 2, 200, 2000, 4000, 5},
	{"jobs that have more than that, shared", 500, 300, 2, 900, 2000, 4000, 7},
	{"no room for growth", 500, 300, 5, 400, 1500, 4000, 4},
	{"no room", 500, 300, 8, 2400, 400, 4000, 7},
	{"far too little for jobs that grow", 500, 300, 8, 800, 0, 4000, 1},
	{"at least one of none", 500, 300, 0, 0, 0, 4000, 1},
	{"small need", 500, 1e-300, 3, 0, 2000, 4000, 3 + manyJobs},
	{"small need, no room", 500, 1e-300, 3, 0, 200, 4000, 1},
}

func TestMemoryAllows(t *testing.T) {
	for _, c := range memoryCases {
		m := memory{spare: int64(c.spare * mib)}
		has := machine.Memory{Available: c.available * mib, Total: c.total * mib, Bound: "memory"}
		if got := m.allows(sizes{running: c.running, all: float64(c.rss) * mib, need: c.need * mib}, has); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestMemoryLimit has memory that goes up and down: the limit goes down only.
func TestMemoryLimit(t *testing.T) {
	m := memory{spare: mib}
	look := func(available int64) int {
		n, _ := m.limit(manyJobs, 1, sizes{need: 100 * mib}, machine.Memory{Available: available*100*mib + 2*mib, Bound: "memory"})
		return n
	}
	for i, c := range []struct{ available, want []int }{
		{[]int{10, 9, 10, 11, 9, 10}, []int{10, 9, 9, 9, 9, 9}},
		{slices.Repeat([]int{12, 11}, patience/2), append(slices.Repeat([]int{9}, patience-2), 10, 11)},
		{[]int{3, 12}, []int{3, 3}},
		{slices.Repeat([]int{12}, patience), append(slices.Repeat([]int{3}, patience-2), 12, 12)},
	} {
		var got []int
		for _, n := range c.available {
			got = append(got, look(int64(n)))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d: %d for %d, want %d", i, got, c.available, c.want)
		}
	}
}

// A look at a job is at a time since its start, and finds so many MiB.
type seenSize struct {
	at    time.Duration
	size  float64
	ready bool
}

var sizesCases = []struct {
	name string
	peak float64 // MiB
	jobs [][]seenSize
	need float64 // MiB; -1: nothing is known
	grow bool
}{
	{"none", 0, nil, -1, false},
	{"not seen, others have ended", 7, [][]seenSize{{}}, 7, false},
	{"seen once", 0, [][]seenSize{{{10 * ms, 3, false}}}, 6, true},
	{"seen once, beside one that is stable", 0, [][]seenSize{{{10 * ms, 3, false}, {60 * ms, 3, false}}, {{10 * ms, 3, false}}}, 3, false},
	{"stable", 0, [][]seenSize{{{10 * ms, 3, false}, {60 * ms, 3.4, false}}}, 3, false},
	{"grown for longer than that", 0, [][]seenSize{{{10 * ms, 3, false}, {time.Second, 30, false}, {1900 * ms, 31, false}}}, 60, true},
	{"stable again", 0, [][]seenSize{{{10 * ms, 3, false}, {time.Second, 30, false}, {2 * time.Second, 31, false}}}, 30, false},
	{"slow growth", 0, [][]seenSize{{{time.Second, 100, false}, {2 * time.Second, 200, false}, {3 * time.Second, 300, false}}}, 600, true},
	{"has had no CPU", 0, [][]seenSize{{{10 * ms, 3, true}, {60 * ms, 3, true}, {time.Second, 3, true}}}, 6, true},
}

// TestSizes says what jobs are expected to need by their sizes so far.
func TestSizes(t *testing.T) {
	for _, c := range sizesCases {
		m, running := memory{peak: c.peak * mib}, map[*process.Process]*sample{}
		all := 0.0
		for _, looks := range c.jobs {
			s, last := newSample(start), 0.0
			for _, look := range looks {
				if last = look.size; look != (seenSize{}) {
					s.size.sampled(start.Add(look.at), machine.Usage{RSS: int64(look.size * mib), Ready: look.ready}, 0)
				}
			}
			running[new(process.Process)] = s
			all += last
		}
		got := m.sizes(running)
		if got.running != len(c.jobs) || got.need != max(0, c.need)*mib || got.grow != c.grow || math.Abs(got.all-all*mib) > 1 {
			t.Errorf("%s: %d jobs with %.1f MiB, up to %.1f each, grow %v; want %.1f, %.1f, %v", c.name, got.running, got.all/mib, got.need/mib, got.grow, all, c.need, c.grow)
		}
	}
}

// TestAvailable wants that running jobs get what they will still take before another job starts.
func TestAvailable(t *testing.T) {
	for _, c := range []struct {
		available, peak, rss float64 // MiB; the peak and what each of two jobs has
		want                 int64
		ok                   bool
	}{
		{1500, 500, 500, 1500, true}, {1500, 500, 50, 600, true}, {1500, 500, 40, 580, false}, {300, 500, 100, 0, false},
	} {
		l, all := still(false, 10, 2)
		l.memory = memory{spare: 600 * mib, peak: c.peak * mib}
		for _, p := range all {
			l.running[p].size.sampled(start, machine.Usage{RSS: int64(c.rss * mib)}, 0)
		}
		l.from.memory = func() (machine.Memory, bool) {
			return machine.Memory{Available: int64(c.available * mib)}, true
		}
		if got, ok := l.available(); got != c.want*mib || ok != c.ok {
			t.Errorf("%+v: %d MiB, %v", c, got/mib, ok)
		}
	}
}

// killCases have jobs with a process each, and some more; the kernel kills some processes.
var killCases = []struct {
	name   string
	sizes  []float64 // MiB
	gone   []bool    // has vanished
	kills  int64
	signal syscall.Signal // that ends the first job
	want   []bool         // a process of the job was killed
}{
	{"none killed", []float64{500, 400}, []bool{true, true}, 0, 0, []bool{false, false}},
	{"killed in another job", []float64{400, 500}, []bool{false, true}, 1, 0, []bool{false, true}},
	{"the larger one", []float64{400, 500}, []bool{true, true}, 1, 0, []bool{false, true}},
	{"a process of somebody else", []float64{400, 500}, []bool{false, false}, 1, 0, []bool{false, false}},
	{"too small to be killed", []float64{10, 500}, []bool{true, false}, 1, 0, []bool{false, false}},
	{"the first process", []float64{400, 500}, []bool{false, true}, 1, syscall.SIGKILL, []bool{true, false}},
	{"a signal of somebody else", []float64{400, 500}, []bool{false, false}, 0, syscall.SIGKILL, []bool{false, false}},
	{"another signal", []float64{400, 500}, []bool{false, false}, 1, syscall.SIGTERM, []bool{false, false}},
}

// TestKilled ends the jobs one after the other: which of them has lost a process?
func TestKilled(t *testing.T) {
	for _, c := range killCases {
		for _, seen := range []bool{false, true} { // by a look before the first job ends
			l, all := still(false, 10, len(c.sizes))
			kills, gone := int64(5), make([]bool, len(c.sizes))
			l.culprit.counted = kills
			l.from.kills = func() int64 { return kills }
			l.from.lives = func(pid int) bool { return !gone[pid-1] }
			l.from.usage = func(p *process.Process) (machine.Usage, bool) {
				i := slices.Index(all, p)
				return machine.Usage{Largest: i + 1, LargestRSS: int64(c.sizes[i] * mib)}, !gone[i]
			}
			l.sample(time.Now())
			kills, gone = kills+c.kills, c.gone
			if seen && c.signal == 0 {
				l.sample(time.Now())
			}
			for i, p := range all {
				r := process.Result{}
				if i == 0 {
					r.Signal = int(c.signal)
				}
				if got := l.Finished(p, r); got != c.want[i] {
					t.Errorf("%s, seen %v: job %d was killed: %v, want %v", c.name, seen, i, got, c.want[i])
				}
			}
		}
	}
}

// TestKilledLater wants that nobody is blamed long after the kernel has killed a process.
func TestKilledLater(t *testing.T) {
	l, all := still(false, 10, 1)
	s := l.running[all[0]]
	s.size.largest, s.size.most = 9, mib
	l.from.kills = func() int64 { return 1 }
	l.killed(start, nil)
	l.from.lives = func(int) bool { return false }
	if l.killed(start.Add(killMemory+1), nil); s.size.killed {
		t.Error("a process that has ended later was killed")
	}
}

// TestAwaitMemory has jobs that wait for more memory than there is: one of them says so.
func TestAwaitMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := still(false, 10, 0)
		available := int64(7)
		l.memory.spare, l.from.memory = 9, func() (machine.Memory, bool) { return machine.Memory{Available: available}, true }
		said := 0
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				err := l.Await(t.Context(), func(n int64) {
					if said++; n != 7 {
						t.Errorf("%d bytes are available", n)
					}
				})
				if err != nil || available < 9 {
					t.Errorf("it goes on with %d bytes: %v", available, err)
				}
			})
		}
		synctest.Wait()
		l.mu.Lock()
		available = 9
		l.mu.Unlock()
		if wg.Wait(); said != 1 {
			t.Errorf("it said so %d times", said)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(io.EOF)
		if err := l.Await(ctx, nil); err != io.EOF {
			t.Errorf("%v, want the cause", err)
		}
	})
}
