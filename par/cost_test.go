package par

import "testing"

// A cost that is higher is taken over at once, a lower one by eighths.
func TestKnownCost(t *testing.T) {
	forget()
	const f, g = 0x1234, 0x5678
	if _, known := knownCost(f); known {
		t.Error("known before anything was noted")
	}
	for _, step := range []struct{ cost, want int64 }{
		{0, 0}, {500_000, 500_000}, {500_999, 500_000}, {2000, 62_000}, {2000, 7000}, {400_000, 400_000}, {1 << 60, (1<<32 - 1) * 1000},
	} {
		setCost(f, step.cost)
		if got, known := knownCost(f); !known || got != step.want {
			t.Errorf("after %d ps: %d, %v; want %d", step.cost, got, known, step.want)
		}
	}
	if _, known := knownCost(g); known {
		t.Error("another function is known")
	}
	setCost(0, 1)
	if _, known := knownCost(0); known {
		t.Error("0 stands for no function, and is remembered")
	}
}

// Two functions that share an entry replace each other.
func TestCostsOfFunctionsWithOneEntry(t *testing.T) {
	forget()
	const f = 0x1000
	shared, _ := costEntry(f)
	g := uint64(f + 16)
	for e, _ := costEntry(g); e != shared; e, _ = costEntry(g) {
		g += 16
	}
	setCost(f, 8_000_000)
	setCost(g, 1000)
	if cost, known := knownCost(g); !known || cost != 1000 {
		t.Errorf("the second: %d, %v", cost, known)
	}
	if _, known := knownCost(f); known {
		t.Error("the first is known though the second has its entry")
	}
}
