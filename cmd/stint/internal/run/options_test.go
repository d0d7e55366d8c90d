package run

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for _, test := range []struct {
		text string
		want time.Duration // -1: an error
	}{
		{"0", 0}, {"1", time.Second}, {"1.5", 1500 * time.Millisecond}, {"30s", 30 * time.Second}, {"2m30s", 150 * time.Second}, {".25", 250 * time.Millisecond},
		{"", -1}, {"-1", -1}, {"-1s", -1}, {"x", -1}, {"NaN", -1}, {"Inf", -1}, {"1e300", -1}, {"5 s", -1},
	} {
		got, err := ParseDuration(test.text)
		if err != nil {
			got = -1
		}
		if got != test.want {
			t.Errorf("%q is %v, want %v", test.text, got, test.want)
		}
	}
}

func TestHalt(t *testing.T) {
	for _, test := range []struct {
		text string
		want Halt
		ok   bool
	}{
		{"never", Halt{}, true},
		{"now", Halt{Now, 1, false}, true}, {"soon", Halt{Soon, 1, false}, true},
		{"now,fail=1", Halt{Now, 1, false}, true}, {"soon,success=3", Halt{Soon, 3, true}, true},
		{"", Halt{}, false}, {"later", Halt{}, false}, {"now,fail=0", Halt{}, false}, {"now,fail", Halt{}, false},
		{"now,fail=-1", Halt{}, false}, {"now,done=1", Halt{}, false}, {"never,fail=1", Halt{}, false}, {"now,fail=10%", Halt{}, false},
	} {
		if h, err := ParseHalt(test.text); h != test.want || (err == nil) != test.ok {
			t.Errorf("%q is %+v, %v; want %+v", test.text, h, err, test.want)
		}
	}
}
