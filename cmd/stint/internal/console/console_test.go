package console

import "testing"

func TestBytes(t *testing.T) {
	for n, want := range map[float64]string{
		0: "0 B", 999: "999 B", 999.4: "999 B", 1000: "1.0 kB", 99_940: "99.9 kB", 99_960: "100 kB", 999_499: "999 kB", 999_500: "1.0 MB", 2e9: "2.0 GB", 3e21: "3000 EB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%v) = %q, want %q", n, got, want)
		}
	}
}
