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
		{0, 0}, {500_000, 500_000}, {2000, 62_500}, {2000, 7812}, {400_000, 400_000}, {1 << 60, 1<<32*1000 - 2000},
	} {
		remember(f, step.cost)
		if got, known := recall(f); !known || got < step.want || got > step.want+3000 {
			t.Errorf("after %d ps: %d, %v; want %d", step.cost, got, known, step.want)
		}
	}
	if _, known := recall(g); known {
		t.Error("another function is known")
	}
}

// A function that shares its place with another is not taken for it.
func TestHistoryIsOfOneFunction(t *testing.T) {
	forget()
	const f = 0x1234
	note, tag := place(f)
	g := uint64(0)
	for c := uint64(1); g == 0; c++ {
		if other, o := place(c); other == note && o != tag {
			g = c
		}
	}
	remember(f, 1_000_000)
	if _, known := recall(g); known {
		t.Error("taken for the other")
	}
	remember(g, 5_000_000)
	if cost, known := recall(g); !known || cost < 5_000_000 {
		t.Error("not noted")
	}
	if _, known := recall(f); known {
		t.Error("still known")
	}
}
