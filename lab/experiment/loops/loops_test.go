package loops

import (
	"slices"
	"testing"
	"time"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, run, sizes{divisor: 1000, ops: 2}, trial.Want{Processors: 2, Cases: 22, Verdicts: 51})
}

// A wrong result is detected.
func TestCheck(t *testing.T) {
	once := func(run func(n int, b engine.Body)) error {
		l := engine.Plain()
		l.Run = func(n, _ int, b engine.Body) { run(n, b) }
		return mixed(10, []engine.Loop{l})()[0].Run(&measure.Meter{N: 2})
	}
	if err := once(func(n int, b engine.Body) { b.Range(0, n) }); err != nil {
		t.Error(err)
	}
	if err := once(func(n int, b engine.Body) { b.Range(0, n-1) }); err == nil {
		t.Error("a missing item was not found")
	}
	if err := once(func(n int, b engine.Body) { b.Range(0, n); b.Plain(n - 1) }); err == nil {
		t.Error("an item that ran twice was not found")
	}
	of := checked(func(got int) bool { return got == 1 })
	if err := of(result.Peer, "wrong", "", func() int { return 2 }).Run(&measure.Meter{N: 1}); err == nil {
		t.Error("a wrong result was not found")
	}
}

// The forms of an item do the same.
func TestForms(t *testing.T) {
	l := engine.Plain()
	l.Run = func(n, _ int, b engine.Body) {
		forms := []func(i int){
			b.Plain, func(i int) { b.Pointer(&i) }, func(i int) { b.Range(i, i+1) },
			func(i int) {
				if err := b.Task(t.Context(), i); err != nil {
					t.Error(err)
				}
			},
		}
		for i := range n {
			forms[i%len(forms)](i)
		}
	}
	if err := mixed(8, []engine.Loop{l})()[0].Run(&measure.Meter{N: 3}); err != nil {
		t.Error(err)
	}
}

// The times of unequal items are the same each time, and a microsecond on average.
func TestZipf(t *testing.T) {
	a, b, sum := zipf(1000), zipf(1000), time.Duration(0)
	for i := range a {
		if a[i] != b[i] {
			t.Fatal("different times")
		}
		sum += a[i]
	}
	if off := sum - time.Millisecond; off.Abs() > time.Microsecond {
		t.Errorf("1000 items take %v, want 1ms", sum)
	}
}

// Every model of a call has the right result at any length.
func TestCalls(t *testing.T) {
	for _, n := range []int{1, 2, 1001, 300_001} {
		for _, model := range slices.Concat(reduced(n)(), counted(n)(), found(n, 0)(), found(n, n-1)()) {
			if err := model.Run(&measure.Meter{N: 2}); err != nil {
				t.Errorf("%s: length %d: %v", model.Name, n, err)
			}
		}
	}
}
