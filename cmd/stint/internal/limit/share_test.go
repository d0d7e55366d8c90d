package limit

import (
	"testing"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/machine"
	"github.com/stint-go/stint/cmd/stint/internal/process"
)

// TestShareBounds has a job that waits for a token hold the last permit.
func TestShareBounds(t *testing.T) {
	for _, c := range []struct {
		name           string
		running, inUse int // inUse: -1 if another process has the jobserver
		limit, current int
	}{
		{"nothing runs", 0, -1, 1, 1},
		{"some run", 3, -1, 3, 4},
		{"the limit is lower", 9, -1, 6, 6},
		{"a server, nothing runs", 0, 0, 6, 1},
		{"a server, makes run", 2, 6, 6, 3},
		{"a server, full", 6, 6, 6, 6},
	} {
		l, _ := still(false, 6, 0)
		s := Share{Running: func() int { return c.running }}
		if c.inUse >= 0 {
			s.InUse = func() int { return c.inUse }
		}
		l.Share(s)
		if got := l.State().Limit; got != c.limit || l.Limiter().Current() != c.current || l.Tokens() != 6 {
			t.Errorf("%s: limit %d, %d permits, %d tokens", c.name, got, l.Limiter().Current(), l.Tokens())
		}
		if l.set(paused, ""); l.Limiter().Current() != 0 || l.Tokens() != 0 {
			t.Errorf("%s, paused: %d permits, %d tokens", c.name, l.Limiter().Current(), l.Tokens())
		}
	}
}

// TestShareEnds has the jobs of a make's tokens end: the limit tells of the most that ran.
func TestShareEnds(t *testing.T) {
	l, _ := still(false, 6, 0)
	running := 0
	l.Share(Share{Running: func() int { return running }})
	for _, running = range []int{1, 2, 3, 2, 1, 0} {
		l.Shared()
	}
	if got := l.State(); got.Limit != 3 || len(got.History) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestShareCountsTokens has one job, a make, compute and wait with four tokens on four CPUs: it uses
// two of them, so that more tokens are needed to keep all busy. As one job it would use enough.
func TestShareCountsTokens(t *testing.T) {
	for inUse, raised := range map[int]bool{1: false, 4: true} {
		l, jobs := still(true, 4, 1)
		l.from.cpus = func() float64 { return 4 }
		l.demand.cpus = 4
		used, now := time.Duration(0), start
		l.from.usage = func(*process.Process) (machine.Usage, bool) { return machine.Usage{CPU: used}, true }
		l.Share(Share{Running: func() int { return len(jobs) }, InUse: func() int { return inUse }})
		for range 5 {
			used, now = used+200*ms, now.Add(100*ms)
			l.look(now, 100*ms)
		}
		if (l.Tokens() > 4) != raised {
			t.Errorf("%d in use: %d tokens", inUse, l.Tokens())
		}
	}
}
