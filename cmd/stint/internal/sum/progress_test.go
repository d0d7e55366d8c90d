package sum

import (
	"testing"
	"time"
)

func TestProgressLine(t *testing.T) {
	for _, test := range []struct {
		done    amount
		total   *amount
		elapsed time.Duration
		want    string
	}{
		{amount{}, nil, 0, "0 files, 0 B, 0 B/s"},
		{amount{12, 5000}, nil, 2 * time.Second, "12 files, 5.0 kB, 2.5 kB/s"},
		{amount{12, 250e6}, &amount{48, 1e9}, time.Second, "12/48 files, 250 MB of 1.0 GB, 250 MB/s, 3s left"},
		{amount{0, 0}, &amount{48, 1e9}, time.Second, "0/48 files, 0 B of 1.0 GB, 0 B/s"},
		{amount{48, 1e9}, &amount{48, 1e9}, time.Second, "48/48 files, 1.0 GB of 1.0 GB, 1.0 GB/s"},
		{amount{1, 1e6}, &amount{2, 501e6}, time.Second, "1/2 files, 1.0 MB of 501 MB, 1.0 MB/s, 8m20s left"},
		{amount{1, 1e6}, &amount{2, 9e9}, time.Second, "1/2 files, 1.0 MB of 9.0 GB, 1.0 MB/s, 2h29m left"},
	} {
		if got := progressLine(test.done, test.total, test.elapsed); got != test.want {
			t.Errorf("progressLine(%v, %v, %v) = %q, want %q", test.done, test.total, test.elapsed, got, test.want)
		}
	}
}

func TestLastLine(t *testing.T) {
	for want, done := range map[string]amount{"0 files, 0 B in 2.5s, 0 B/s": {}, "1 file, 5.0 kB in 2.5s, 2.0 kB/s": {1, 5000}, "12 files, 1.0 GB in 2.5s, 400 MB/s": {12, 1e9}} {
		if got := lastLine(done, 2500*time.Millisecond); got != want {
			t.Errorf("lastLine(%v) = %q, want %q", done, got, want)
		}
	}
}
