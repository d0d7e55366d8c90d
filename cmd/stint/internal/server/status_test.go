package server

import (
	"strings"
	"testing"

	"github.com/stint-go/stint/cluster"
)

// TestStatusIsPrintable keeps the texts of other machines in their cells.
func TestStatusIsPrintable(t *testing.T) {
	s := &cluster.Status{DeadLetters: []cluster.DeadLetter{}, Workers: []cluster.WorkerStatus{{ID: "a", Host: "evil\nno runs\x1b[1m"}}}
	var out strings.Builder
	if err := WriteStatus(&out, s, false); err != nil || strings.Count(out.String(), "\n") != 6 || strings.Contains(out.String(), "\x1b") {
		t.Errorf("%v, want six lines and no escape sequence:\n%q", err, &out)
	}
}
