package server

import (
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// evil is a text of another machine that would change the terminal, end its line, or fill the screen.
var evil = "evil\nno runs\x1b[1m\x9b\u009b\r\t\xff" + strings.Repeat("x", 1<<20)

// TestStatusIsPrintable keeps the texts of other machines in their cells.
func TestStatusIsPrintable(t *testing.T) {
	letter := cluster.DeadLetter{ID: evil, Task: evil, Reason: evil, Time: time.Now()}
	s := &cluster.Status{
		Runs:        []cluster.RunStatus{{Run: evil, Task: evil}},
		Tasks:       []cluster.TaskStatus{{Name: evil}},
		Workers:     []cluster.WorkerStatus{{ID: evil, Host: evil, Tasks: []string{evil}}},
		DeadLetters: []cluster.DeadLetter{letter},
		AllDead:     1,
	}
	var out strings.Builder
	if err := WriteStatus(&out, s, false); err != nil || out.Len() > 20_000 || strings.Count(out.String(), "\n") != 11 || !console.Printable(strings.ReplaceAll(out.String(), "\n", "")) {
		t.Errorf("%v, want eleven lines and no control character:\n%q", err, &out)
	}
	out.Reset()
	all := func(yield func(cluster.DeadLetter, error) bool) { yield(letter, nil) }
	if err := WriteDeadLetters(&out, all, false); err != nil || strings.Count(out.String(), "\n") != 2 || !console.Printable(strings.ReplaceAll(out.String(), "\n", "")) {
		t.Errorf("%v, want two lines and no control character:\n%q", err, &out)
	}
}

// TestStatusTellsOfMore says how many dead letters there are that it does not show.
func TestStatusTellsOfMore(t *testing.T) {
	some := make([]cluster.DeadLetter, 2)
	for _, c := range []struct {
		letters []cluster.DeadLetter
		all     int
		want    string
	}{
		{nil, 7, "\n7 dead letters, not shown to this user\n"},
		{some, 2, ""},
		{some, 3000, "\nand 2998 more, which 'stint dead' prints\n"},
		{some, 1, ""}, // one was removed meanwhile
	} {
		var out strings.Builder
		if err := WriteStatus(&out, &cluster.Status{DeadLetters: c.letters, AllDead: c.all}, false); err != nil {
			t.Error(err)
		}
		if got := out.String(); c.want == "" && strings.Contains(got, "more") || !strings.HasSuffix(got, c.want) {
			t.Errorf("%d of %d: got %q, want %q", len(c.letters), c.all, got, c.want)
		}
	}
}
