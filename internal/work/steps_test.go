package work

import (
	"context"
	"testing"

	"github.com/stint-go/stint/internal/limit"
)

// A submitter is admitted, and parked workers are dismissed, without a look at the others.
func TestOthersTakeNoSteps(t *testing.T) {
	e, s := New(Config{Limiter: limit.New(1)}, SourceConfig{Context: context.Background(), Room: 100, Runner: new(record)})
	e.mu.Lock()
	defer e.mu.Unlock()
	first := &submitter{} // nobody may go on from here
	last := &submitter{next: first}
	e.admitted = last
	b := &submitter{source: s, payload: func() {}}
	b.join()
	b.admit()
	if e.admitted != b || b.next != first || last.next != b || first.next != nil {
		t.Error("the submitter is not the last of the ring")
	}
	for range 10 {
		e.idle = append(e.idle, e.newWorkerLocked())
	}
	stays := &e.idle[3]
	e.dismissLocked(3)
	if len(e.idle) != 7 || &e.idle[0] != stays {
		t.Error("the workers that stay have been moved")
	}
}
