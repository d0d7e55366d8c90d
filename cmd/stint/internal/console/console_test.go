package console

import (
	"testing"
	"time"
)

func TestBytes(t *testing.T) {
	for n, want := range map[float64]string{
		0: "0 B", 999: "999 B", 999.4: "999 B", 1000: "1.0 kB", 99_940: "99.9 kB", 99_960: "100 kB", 999_499: "999 kB", 999_500: "1.0 MB", 2e9: "2.0 GB", 3e21: "3000 EB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%v) = %q, want %q", n, got, want)
		}
	}
}

func TestElapsedAndRate(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 499 * time.Microsecond: "0s", 1234 * time.Microsecond: "1ms", 999 * time.Millisecond: "999ms", 1234 * time.Millisecond: "1.23s", 59960 * time.Millisecond: "1m0s", 61234 * time.Millisecond: "1m1.2s", 754 * time.Second: "12m34s", 3*time.Hour + 25*time.Minute + 45*time.Second: "3h25m45s",
	} {
		if got := Elapsed(d); got != want {
			t.Errorf("Elapsed(%v) = %q, want %q", d, got, want)
		}
	}
	for n, want := range map[float64]string{0: "0/s", 0.1234: "0.123/s", 81.26: "81.3/s", 99.96: "100/s", 1234.4: "1234/s"} {
		if got := Rate(n); got != want {
			t.Errorf("Rate(%v) = %q, want %q", n, got, want)
		}
	}
}
