package server

import (
	"strings"
	"testing"

	"github.com/stint-go/stint/cluster"
)

// TestStatusIsShort keeps a long text of another machine out of the others' columns.
func TestStatusIsShort(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	s := &cluster.Status{DeadLetters: []cluster.DeadLetter{{ID: "a", Reason: long}}, Workers: []cluster.WorkerStatus{{ID: "a", Host: long}, {ID: "b", Tasks: []string{long}}}}
	var out strings.Builder
	if err := WriteStatus(&out, s, false); err != nil || out.Len() > 20_000 {
		t.Errorf("%v, %d bytes", err, out.Len())
	}
}

// TestStatusIsPrintable keeps the texts of other machines in their cells.
func TestStatusIsPrintable(t *testing.T) {
	s := &cluster.Status{DeadLetters: []cluster.DeadLetter{}, Workers: []cluster.WorkerStatus{{ID: "a", Host: "evil\nno runs\x1b[1m"}}}
	var out strings.Builder
	if err := WriteStatus(&out, s, false); err != nil || strings.Count(out.String(), "\n") != 6 || strings.Contains(out.String(), "\x1b") {
		t.Errorf("%v, want six lines and no escape sequence:\n%q", err, &out)
	}
}
