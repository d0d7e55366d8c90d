package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stint-go/stint/cluster"
)

// An event is a line of a journal.
type event struct {
	Worker  string // or another process
	What    string // "start" and "end" of a function, or anything else
	Index   int
	Attempt int
	ID      string
	Cause   string // that ended the context of the function, at "end"
}

// A journal is a file to which all processes of a test append what they do. Its
// order is the order in which they did it.
type journal struct {
	Path   string
	Worker string
}

// newJournal returns the journal of a test.
func newJournal(t *testing.T) journal {
	return journal{Path: filepath.Join(t.TempDir(), "journal"), Worker: "test"}
}

// as returns the journal for another worker.
func (j journal) as(worker string) journal {
	j.Worker = worker
	return j
}

// note appends an event. One write of a line is whole even if others write too.
func (j journal) note(e event) {
	e.Worker = j.Worker
	line, err := json.Marshal(e)
	if err == nil {
		err = appendTo(j.Path, append(line, '\n'))
	}
	if err != nil {
		panic(fmt.Sprint("journal: ", err)) // also when the test has ended and its directory is gone
	}
}

func appendTo(path string, line []byte) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(line)
	return err
}

// noteTask appends an event of the task that ctx belongs to.
func (j journal) noteTask(info cluster.Info, what, cause string) {
	j.note(event{What: what, Index: info.Index, Attempt: info.Attempt, ID: info.ID, Cause: cause})
}

// open opens a gate, at which functions in any process wait.
func (j journal) open(t *testing.T, gate string) {
	t.Helper()
	if err := os.WriteFile(j.Path+"."+gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// opened waits until a gate is open, or until stop is closed.
func (j journal) opened(gate string, stop <-chan struct{}) bool {
	for {
		if _, err := os.Stat(j.Path + "." + gate); err == nil {
			return true
		}
		select {
		case <-stop:
			return false
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// events returns what was noted so far.
func (j journal) events(t *testing.T) []event {
	t.Helper()
	r := reader{journal: j}
	r.more(t)
	return r.events
}

// until waits until what was noted so far satisfies ok.
func (j journal) until(t *testing.T, what string, ok func([]event) bool) {
	t.Helper()
	r := reader{journal: j}
	eventually(t, what, func() bool {
		r.more(t)
		return ok(r.events)
	})
}

// seen waits until n events satisfy ok.
func (j journal) seen(t *testing.T, n int, what string, ok func(event) bool) {
	t.Helper()
	j.until(t, fmt.Sprint(n, " times ", what), func(all []event) bool { return count(all, ok) >= n })
}

// A reader reads a journal that grows.
type reader struct {
	journal journal
	offset  int64
	events  []event
}

// more reads what was added. What does not end in a newline is left for later.
func (r *reader) more(t *testing.T) {
	t.Helper()
	f, err := os.Open(r.journal.Path)
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, r.offset, 1<<40))
	if err != nil {
		t.Fatal(err)
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	r.offset += int64(len(text))
	for line := range bytes.Lines(text) {
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("journal: %v in %q", err, line)
		}
		r.events = append(r.events, e)
	}
}

// count returns how many events satisfy ok.
func count(all []event, ok func(event) bool) int {
	return len(only(all, ok))
}

// only returns the events that satisfy ok.
func only(all []event, ok func(event) bool) []event {
	return slices.DeleteFunc(slices.Clone(all), func(e event) bool { return !ok(e) })
}

// is returns a condition on events.
func is(what string) func(event) bool {
	return func(e event) bool { return e.What == what }
}

// of is a condition on events of one item.
func of(what string, index int) func(event) bool {
	return func(e event) bool { return e.What == what && e.Index == index }
}

// by is a condition on events of one worker.
func by(worker, what string) func(event) bool {
	return func(e event) bool { return e.Worker == worker && e.What == what }
}

// begun returns the first worker that began an item.
func begun(all []event, index int) string {
	for _, e := range all {
		if of("begin", index)(e) {
			return e.Worker
		}
	}
	return ""
}

// runsOf returns how often each item started, and fails the test if one of n never did.
func runsOf(t *testing.T, all []event, n int) map[int]int {
	t.Helper()
	runs := map[int]int{}
	for _, e := range only(all, is("begin")) {
		runs[e.Index]++
	}
	for i := range n {
		if runs[i] == 0 {
			t.Errorf("item %d never ran", i)
		}
	}
	return runs
}

// most returns how many functions ran at once at most.
func most(all []event) int {
	now, top := 0, 0
	for _, e := range all {
		switch e.What {
		case "begin":
			now++
		case "end":
			now--
		}
		top = max(top, now)
	}
	return top
}

// patience is how long a test waits for something before it says that it does not come: only a
// test that hangs waits so long, also on a machine that has ten times more to do.
const patience = 5 * time.Minute

// cleanup is how long what is deleted at an end may stay: less than the minute after which the
// server deletes a consumer by itself. Records that nobody has deleted expire after 12 seconds, and
// workers remove the data of their runs: tests that wait for cleanup do not find these.
const cleanup = 45 * time.Second

// eventually waits until ok returns true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited for %v: %s", patience, what)
		}
	}
}
