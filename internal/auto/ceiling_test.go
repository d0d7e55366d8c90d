package auto

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"testing"
)

// limits gives the process memory limits for the time of a test: GOMEMLIMIT and
// that of the cgroup, 0 for none.
func limits(t *testing.T, set int64, group uint64) {
	if set == 0 {
		set = math.MaxInt64
	}
	if group == 0 {
		group = math.MaxUint64
	}
	oldSet, oldGroup := debug.SetMemoryLimit(set), cgroup.Swap(group)
	t.Cleanup(func() {
		debug.SetMemoryLimit(oldSet)
		cgroup.Store(oldGroup)
	})
}

// figures are what the runtime says, by metric.
type figures [len(metricNames)]uint64

// ceiling returns one that sees f as it is when asked.
func (f *figures) ceiling() *ceiling {
	f[readGOGC] = 100
	return &ceiling{figure: func(metric int) uint64 { return f[metric] }}
}

// collect ends a collection that keeps so many MiB.
func (f *figures) collect(kept uint64) {
	f[readCycles]++
	f[readLive], f[readObjects] = kept*mib, kept*mib
}

// room asks c and wants an answer.
func room(t *testing.T, c *ceiling, now, want, most int, reason string) {
	t.Helper()
	if n, why := c.room(now, want); n != most || why != reason {
		t.Errorf("room(%d, %d) = %d, %q; want %d, %q", now, want, n, why, most, reason)
	}
}

func TestMetricsExist(t *testing.T) {
	all := metrics.All()
	for _, name := range metricNames {
		i := slices.IndexFunc(all, func(d metrics.Description) bool { return d.Name == name })
		if i < 0 || all[i].Kind != metrics.KindUint64 {
			t.Errorf("%s is not a number that the runtime knows", name)
		}
	}
}

func TestUnknownMetricIsNoCeiling(t *testing.T) {
	limits(t, 512*mib, 0)
	var c ceiling
	c.room(1, 2)
	for i := range c.samples {
		c.samples[i].Name = "/no/such:metric"
	}
	room(t, &c, 2, 256, 256, "")
	if c.pressed() {
		t.Error("pressed by nothing")
	}
}

func TestNoMemoryLimitMeasuresNoMemory(t *testing.T) {
	limits(t, 0, 0)
	var c ceiling
	if c.pressed() || c.samples != nil {
		t.Errorf("pressed has read %v", c.samples)
	}
	room(t, &c, 16, 32, 32, "")
	if k := c.samples[readObjects].Value.Kind(); k != metrics.KindBad {
		t.Errorf("room has read %s", metricNames[readObjects])
	}
}

func TestAskingAllocatesNothing(t *testing.T) {
	for _, set := range []int64{0, 1 << 40} {
		limits(t, set, 0)
		var c ceiling
		n := testing.AllocsPerRun(100, func() {
			if c.pressed() {
				t.Error("pressed below 1 TiB")
			}
			room(t, &c, 16, 17, 17, "")
		})
		if n != 0 {
			t.Errorf("limit %d: %v allocations", set, n)
		}
	}
}

func TestNothingToRefuse(t *testing.T) {
	limits(t, mib, 0)
	var f figures
	f[readThreads] = 5000
	c := f.ceiling()
	f.collect(100)
	room(t, c, 16, 16, 16, "")
	room(t, c, 16, 8, 8, "")
}

func BenchmarkCeiling(b *testing.B) {
	old := debug.SetMemoryLimit(1 << 40)
	defer debug.SetMemoryLimit(old)
	b.Run("room", func(b *testing.B) {
		var c ceiling
		for b.Loop() {
			c.room(16, 17)
		}
	})
	b.Run("pressed", func(b *testing.B) {
		var c ceiling
		for b.Loop() {
			c.pressed()
		}
	})
	b.Run("readCgroup", func(b *testing.B) {
		for b.Loop() {
			readCgroup()
		}
	})
}
