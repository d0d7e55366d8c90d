package par

import "testing"

// What an item has cost is believed at once when it is more, and by and by when it
// is less.
func TestHistory(t *testing.T) {
	forget()
	const f, g = 0x1234, 0x5678
	if _, known := recall(f); known {
		t.Error("known before anything was noted")
	}
	for _, step := range []struct{ cost, want int64 }{
		{0, 0}, {500_000, 500_000}, {500_999, 500_000}, {2000, 62_000}, {2000, 7000}, {400_000, 400_000}, {1 << 60, (1<<32 - 1) * 1000},
	} {
		remember(f, step.cost)
		if got, known := recall(f); !known || got != step.want {
			t.Errorf("after %d ps: %d, %v; want %d", step.cost, got, known, step.want)
		}
	}
	if _, known := recall(g); known {
		t.Error("another function is known")
	}
	remember(0, 1)
	if _, known := recall(0); known {
		t.Error("0 stands for no function, and is remembered")
	}
}

// Four functions that share their places are told apart. A fifth takes the place
// of one.
func TestHistoryTellsFunctionsApart(t *testing.T) {
	forget()
	shared, _ := places(0x1000)
	var codes []uint64
	for c := uint64(0x1000); len(codes) < 5; c += 16 {
		if notes, _ := places(c); notes == shared {
			codes = append(codes, c)
		}
	}
	for i, c := range codes[:4] {
		remember(c, int64(i+1)*1_000_000)
	}
	for i, c := range codes[:4] {
		if cost, known := recall(c); !known || cost != int64(i+1)*1_000_000 {
			t.Errorf("function %d: %d, %v", i, cost, known)
		}
	}
	remember(codes[4], 9_000_000)
	if cost, known := recall(codes[4]); !known || cost != 9_000_000 {
		t.Errorf("the fifth: %d, %v", cost, known)
	}
	left := 0
	for _, c := range codes[:4] {
		if _, known := recall(c); known {
			left++
		}
	}
	if left != 3 {
		t.Errorf("%d of the other four are left, want 3", left)
	}
}
