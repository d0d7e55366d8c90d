// Package trace tells what the jobs of a run did: a Trace in a file of Chrome trace events, which Perfetto
// shows, and a Summary in some lines.
package trace

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/limit"
	"github.com/stint-go/stint/cmd/stint/internal/process"
)

const (
	start    = `[{"ts":` // of a file
	maxItems = 10        // of a job in a trace
	run      = 1         // the process of the trace that has the limit, and the jobs that run here
)

// An Attempt is an attempt of a job that has ended.
type Attempt struct {
	process.Result
	Seq      int64         // of the job
	Attempts int           // of the job so far, with this one
	Host     string        // where it ran; "": here
	Slot     int           // among the jobs that ran concurrently, from 1; 0: not known
	Items    []string      // none if it had a block of the input
	Command  func() string // as messages tell it
	Failure  string        // how it has failed; "": it has not
}

// A Trace writes events to a file, in an array of JSON. Its reader needs no end of the array, so the file
// of a process that was killed can be read as well. The methods may be called concurrently.
type Trace struct {
	file  *os.File
	out   *console.Output
	began time.Time

	mu      sync.Mutex
	comma   string // before the next event
	hosts   map[string]*host
	state   limit.State // the last one, without its history
	running int
	changed time.Time // the last change of the limit that was written
}

// A host is a process of the trace.
type host struct {
	id    int
	lanes []time.Time // when the last event of each ends; the zero time: there is none
}

// An event is one of the Trace Event Format. The numbers come first: some versions of Perfetto find no
// time after a string that has an escape.
type event struct {
	Time     int64  `json:"ts"` // microseconds, as the duration
	Phase    string `json:"ph"`
	Process  int    `json:"pid"`
	Lane     int    `json:"tid"`
	Duration *int64 `json:"dur,omitempty"`
	Name     string `json:"name"`
	Scope    string `json:"s,omitempty"`
	Args     any    `json:"args,omitempty"`
}

// Create returns a Trace in the named file, which it truncates: what is not empty must be a trace. Opening a named pipe blocks until it has
// a reader. failed is called once, with the first error of a write; nothing is written after it.
func Create(name string, c *console.Console, failed func(error)) (*Trace, error) {
	f, err := create(name)
	if err != nil {
		return nil, err
	}
	t := &Trace{file: f, out: console.NewOutput(f, c, failed), began: time.Now(), comma: "[", hosts: map[string]*host{"": {id: run}}}
	t.name(run, 0, "process_name", "stint run")
	return t, nil
}

// create creates or empties a file, unless it has something that is no trace: the name may be that
// of an input.
func create(name string) (*os.File, error) {
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		b := make([]byte, len(start))
		if n, _ := f.ReadAt(b, 0); string(b[:n]) != start {
			return nil, errors.New(name + ": is not a trace, and is not overwritten")
		}
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
}

// Close writes the end, and closes the file.
func (t *Trace) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	_ = t.out.Line([]byte("]\n"))
	return cmp.Or(t.out.Flush(), t.file.Close())
}

// Attempt adds an attempt.
func (t *Trace) Attempt(a *Attempt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	start := a.Start
	if start.IsZero() { // it was not started
		start = time.Now()
	}
	end := start.Add(a.Elapsed)
	pid, tid := t.lane(a, start, end)
	var items []string
	for _, item := range a.Items[:min(len(a.Items), maxItems)] {
		items = append(items, console.Short(item))
	}
	args := map[string]any{
		"seq": a.Seq, "attempt": a.Attempts, "items": items, "command": a.Command(), "host": a.Host,
		"exit": a.Exit, "signal": a.Signal, "error": a.Failure, "cpu_seconds": a.CPU.Seconds(), "max_rss_bytes": a.MaxRSS,
	}
	name := cmp.Or(console.Short(strings.Join(items, " ")), a.Command())
	if a.Attempts > 1 {
		name += fmt.Sprintf(", attempt %d", a.Attempts)
	}
	if a.Failure != "" {
		name += ": " + a.Failure
	}
	t.write(&event{Time: t.at(start), Phase: "X", Process: pid, Lane: tid, Duration: new(t.at(end) - t.at(start)), Name: name, Args: args})
}

// lane returns the process and the lane of an attempt: its slot, or the lane whose last event ends latest
// before it. As attempts come in the order of their ends, more or less, few lanes are left empty.
func (t *Trace) lane(a *Attempt, start, end time.Time) (pid, tid int) {
	h := t.hosts[a.Host]
	if h == nil {
		h = &host{id: run + len(t.hosts)}
		t.hosts[a.Host] = h
		t.name(h.id, 0, "process_name", a.Host)
	}
	best := a.Slot - 1
	if a.Slot == 0 {
		for i, last := range h.lanes {
			if !last.After(start) && (best < 0 || last.After(h.lanes[best])) {
				best = i
			}
		}
		if best < 0 {
			best = len(h.lanes)
		}
	}
	for len(h.lanes) <= best {
		h.lanes = append(h.lanes, time.Time{})
	}
	if h.lanes[best].IsZero() {
		t.name(h.id, best+1, "thread_name", fmt.Sprintf("slot %d", best+1))
	}
	h.lanes[best] = end
	return h.id, best + 1
}

// Sample adds how many jobs run at present, and the limit with what has changed since the last call.
func (t *Trace) Sample(now time.Time, s limit.State, running int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range s.History {
		if c.Time.After(t.changed) {
			t.changed = c.Time
			t.limit(c.Time, c.Limit, c.Reason)
		}
	}
	t.limit(now, s.Limit, s.Reason)
	if running != t.running {
		t.running = running
		t.count(now, "running", running)
	}
}

// limit adds a change of the limit or of its reason.
func (t *Trace) limit(at time.Time, n int, reason string) {
	if n != t.state.Limit {
		t.count(at, "limit", n)
	}
	if n != t.state.Limit || reason != t.state.Reason {
		t.write(&event{Time: t.at(at), Phase: "i", Process: run, Name: strings.TrimSuffix(fmt.Sprintf("limit %d: %s", n, reason), ": "), Scope: "p"})
	}
	t.state.Limit, t.state.Reason = n, reason
}

func (t *Trace) count(at time.Time, name string, n int) {
	t.write(&event{Time: t.at(at), Phase: "C", Process: run, Name: name, Args: map[string]int{"jobs": n}})
}

// at returns microseconds since 1970, which a change of the clock during the run does not disturb.
func (t *Trace) at(when time.Time) int64 { return t.began.Add(when.Sub(t.began)).UnixMicro() }

// name names a process, or a lane of one.
func (t *Trace) name(pid, tid int, what, name string) {
	t.write(&event{Time: t.began.UnixMicro(), Phase: "M", Process: pid, Lane: tid, Name: what, Args: map[string]string{"name": name}})
}

// write adds an event, on a line of its own.
func (t *Trace) write(e *event) {
	_ = t.out.Line(append([]byte(t.comma), console.JSON(e)...))
	t.comma = ","
}
