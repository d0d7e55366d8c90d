package limit

import (
	"math"
	"slices"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/machine"
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
	{"nothing known, nothing left or running", 0, 0, 0, 0, 100, 4000, 1},
	{"room", 500, 300, 0, 0, 2000, 4000, 5},
	{"room beside jobs that do not grow", 500, 300, 2, 600, 2000, 4000, 7},
	{"room beside jobs that grow", 500, 300, 2, 200, 2000, 4000, 5},
	{"jobs that have more than that, shared", 500, 300, 2, 900, 2000, 4000, 7},
	{"room for a part of a job", 500, 300, 2, 600, 799, 4000, 2},
	{"no room for growth", 500, 300, 5, 400, 1500, 4000, 4},
	{"no room", 500, 300, 8, 2400, 400, 4000, 7},
	{"far too little", 500, 300, 8, 2400, 0, 4000, 6},
	{"far too little for jobs that grow", 500, 300, 8, 800, 0, 4000, 1},
	{"at least one", 500, 300, 1, 300, 0, 4000, 1},
	{"at least one of none", 500, 300, 0, 0, 0, 4000, 1},
	{"usual spare", 0, 300, 0, 0, 800, 4000, 2},
	{"all is spare", 9000, 300, 3, 900, 4000, 4000, 1},
	{"small need", 500, 1e-300, 3, 0, 2000, 4000, 3 + manyJobs},
	{"small need, no room", 500, 1e-300, 3, 0, 200, 4000, 1},
}

func TestMemoryAllows(t *testing.T) {
	for _, c := range memoryCases {
		m := memory{spare: int64(c.spare * mib), need: c.need * mib}
		has := machine.Memory{Available: c.available * mib, Total: c.total * mib, Bound: "memory"}
		if got := m.allows(c.running, float64(c.rss)*mib, has); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestMemoryLimit has memory that goes up and down: the limit goes down only.
func TestMemoryLimit(t *testing.T) {
	m := memory{spare: mib, need: 100 * mib}
	look := func(available int64) int {
		n, _ := m.limit(0, 0, machine.Memory{Available: available*100*mib + 2*mib, Bound: "memory"})
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

func TestMemoryReason(t *testing.T) {
	m, has := memory{}, machine.Memory{Available: 300*mib + 5, Total: 1000 * mib, Bound: "memory of the cgroup"}
	if n, reason := m.limit(0, 0, has); n != math.MaxInt || reason != "memory of the cgroup: 300 MiB available" {
		t.Errorf("%d, %q", n, reason)
	}
	m.finished(99.7 * mib)
	if n, reason := m.limit(0, 0, has); n != 2 || reason != "memory of the cgroup: 300 MiB available, up to 100 MiB a job" {
		t.Errorf("%d, %q", n, reason)
	}
}

// TestMemoryNeed has a large job that smaller ones follow.
func TestMemoryNeed(t *testing.T) {
	var m memory
	m.finished(300)
	for m.need > 150 {
		before := m.need
		if m.finished(100); m.need >= before || m.need < 100 {
			t.Fatalf("need %v after %v", m.need, before)
		}
	}
	for range 100 {
		m.finished(100)
	}
	if m.need != 100 {
		t.Errorf("need %v, want 100", m.need)
	}
	if m.finished(200); m.need != 200 {
		t.Errorf("need %v, want 200", m.need)
	}
}
