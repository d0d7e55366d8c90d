package limit

import (
	"testing"
	"testing/synctest"
	"time"
)

// A worker keeps its permit while nothing presses it. Others that wait get the permit after so
// many tasks, or after some time, and at once if they press more.
func TestQuantum(t *testing.T) {
	var outside Quantum
	outside.Start()
	synctest.Test(t, func(t *testing.T) {
		var q Quantum
		q.Start()
		for range 2 * QuantumTasks {
			if !q.Lasts(None, 1) {
				t.Fatal("it ends though nobody waits")
			}
		}
		if q.Lasts(Urgent, 1) {
			t.Error("it lasts under urgent pressure")
		}
		if !q.Lasts(Contended, QuantumTasks-2) || !q.Lasts(Contended, 0) || q.Lasts(Contended, 1) {
			t.Error("want it to end with so many tasks, each call being one at least")
		}
		q.Start()
		time.Sleep(QuantumTime - 1)
		if !q.Lasts(Contended, 1) {
			t.Error("it ends too early")
		}
		time.Sleep(time.Nanosecond)
		if q.Lasts(Contended, 1) || !q.Lasts(None, 1) {
			t.Error("want it to end for those that wait")
		}
		if q = (Quantum{}); q.Lasts(Contended, 1) || outside.Lasts(Contended, 1) {
			t.Error("one that was not started here lasts")
		}
	})
}
