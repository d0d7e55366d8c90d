package measure

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestRoundsInterleave(t *testing.T) {
	got := ""
	err := Rounds(t.Context(), 2, 3, func(round, model int) error {
		got += fmt.Sprint(round, ":", model, " ")
		return nil
	})
	if want := "-1:0 -1:1 -1:2 0:0 0:1 0:2 1:0 1:1 1:2 "; got != want || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestRoundsStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	broken := errors.New("broken")
	for _, c := range []struct {
		name string
		last func() error // effect of the fifth run
		want error
	}{
		{"a failing run", func() error { return broken }, broken},
		{"the end of the context", func() error { cancel(); return nil }, context.Canceled},
	} {
		calls := 0
		err := Rounds(ctx, 5, 2, func(int, int) error {
			if calls++; calls == 5 {
				return c.last()
			}
			return nil
		})
		if err != c.want || calls != 5 {
			t.Errorf("%s: got %v after %d calls, want %v after 5", c.name, err, calls, c.want)
		}
	}
}

func TestPeakBelowTheFloorIsHidden(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		peak, floor int64
		want        bool
	}{{0, 0, false}, {0, mb, false}, {mb, 0, false}, {2 * mb, 3 * mb, true}, {3 * mb, 3 * mb, true}, {4 * mb, 3 * mb, false}} {
		if got := (Usage{PeakRSS: c.peak, Floor: c.floor}).isBound(); got != c.want {
			t.Errorf("peak %d, floor %d: hidden %v, want %v", c.peak, c.floor, got, c.want)
		}
	}
}
