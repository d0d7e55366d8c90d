package auto

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"testing"
)

// memoryLimited sets GOMEMLIMIT for the time of a test, 0 for none.
func memoryLimited(t *testing.T, bytes int64) {
	if bytes == 0 {
		bytes = math.MaxInt64
	}
	old := debug.SetMemoryLimit(bytes)
	t.Cleanup(func() { debug.SetMemoryLimit(old) })
}

// resources returns resources that read u.
func (u *usage) resources() *resources { return &resources{read: func() usage { return *u }} }

// collect completes a collection that keeps so many MiB.
func (u *usage) collect(kept uint64) {
	u.collections++
	u.kept, u.all = float64(kept*mib), float64(kept*mib)
}

// room calls c.room and checks the result.
func room(t *testing.T, c *resources, now, want, n int, reason string) {
	t.Helper()
	if got, why := c.room(now, want); got != n || why != reason {
		t.Errorf("room(%d, %d) = %d, %q; want %d, %q", now, want, got, why, n, reason)
	}
}

func TestMetricsExist(t *testing.T) {
	all := metrics.All()
	for _, m := range metricSamples {
		i := slices.IndexFunc(all, func(d metrics.Description) bool { return d.Name == m.Name })
		if i < 0 || all[i].Kind != metrics.KindUint64 {
			t.Errorf("%s is not a number that the runtime knows", m.Name)
		}
	}
}

func TestUnknownMetricIsNoCeiling(t *testing.T) {
	memoryLimited(t, 512*mib)
	var c resources
	c.room(1, 2)
	for i := range c.samples {
		c.samples[i].Name = "/no/such:metric"
	}
	room(t, &c, 2, 256, 256, "")
	if c.memoryShort() {
		t.Error("memory is short without metrics")
	}
}

func TestAskingAllocatesNothing(t *testing.T) {
	for _, set := range []int64{0, 1 << 40} {
		memoryLimited(t, set)
		var c resources
		n := testing.AllocsPerRun(100, func() {
			if c.memoryShort() {
				t.Error("memory is short below 1 TiB")
			}
			room(t, &c, 16, 17, 17, "")
		})
		if n != 0 {
			t.Errorf("limit %d: %v allocations", set, n)
		}
	}
}

func TestThreadsHoldTheLimit(t *testing.T) {
	memoryLimited(t, 0)
	const many = "threads: 2001 in the process"
	for _, s := range []struct {
		threads      uint64
		now, want, n int
		reason       string
	}{
		{10, 16, 256, 256, ""},
		{2000, 200, 256, 256, ""},
		{2001, 200, 256, 200, many},
		{2001, 1, 2, 1, many},
	} {
		u := usage{threads: s.threads}
		room(t, u.resources(), s.now, s.want, s.n, s.reason)
	}
}
