package server

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// WriteStatus writes s as JSON, or as a table for each of its parts.
func WriteStatus(w io.Writer, s *cluster.Status, asJSON bool) error {
	if asJSON {
		enc := newEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(s)
	}
	t := newTable(w)
	t.head(len(s.Runs), "no runs", "RUN", "TASK", "STARTED", "LIMIT", "WAITING")
	for _, r := range s.Runs {
		t.row(r.Run, r.Task, r.Started.Local().Format(time.DateTime), limit(r.Limit), r.Waiting)
	}
	t.row()
	t.head(len(s.Tasks), "no tasks", "TASK", "QUEUED", "IN FLIGHT", "REDELIVERED", "LIMIT")
	for _, k := range s.Tasks {
		t.row(k.Name, k.Queued, k.InFlight, k.Redelivered, limit(k.Limit))
	}
	t.row()
	t.head(len(s.Workers), "no workers", "WORKER", "HOST", "PID", "LIMIT", "RUNNING", "LEFT", "DONE", "TASKS")
	for _, k := range s.Workers {
		t.row(k.ID, k.Host, k.PID, limit(k.Limit), k.Running, k.Abandoned, k.Done, strings.Join(k.Tasks, " "))
	}
	switch {
	case s.DeadLetters == nil:
		t.row()
		t.row(fmt.Sprintf("%d dead letters, not shown to this user", s.AllDead))
	case len(s.DeadLetters) > 0:
		t.row()
		t.row(deadLetterHeads...)
	}
	for _, a := range s.DeadLetters {
		t.deadLetter(a)
	}
	if n := s.AllDead - len(s.DeadLetters); n > 0 && s.DeadLetters != nil {
		t.row(fmt.Sprintf("and %d more, which 'stint dead' prints", n))
	}
	return t.Flush()
}

// WriteDeadLetters writes all as a table, or as a JSON object a line.
func WriteDeadLetters(w io.Writer, all iter.Seq2[cluster.DeadLetter, error], asJSON bool) error {
	enc, t, n := newEncoder(w), newTable(w), 0
	for a, err := range all {
		if err != nil {
			return err
		}
		if asJSON {
			if err := enc.Encode(a); err != nil {
				return err
			}
			continue
		}
		if n++; n == 1 {
			t.row(deadLetterHeads...)
		}
		t.deadLetter(a)
	}
	if n == 0 && !asJSON {
		t.row("no dead letters")
	}
	return t.Flush()
}

func newEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// table aligns the cells of its rows in columns.
type table struct{ *tabwriter.Writer }

func newTable(w io.Writer) table { return table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

// row writes one row. Cells are short and visible: other machines have written them.
func (t table) row(cells ...any) {
	for i, c := range cells {
		if i > 0 {
			fmt.Fprint(t, "\t")
		}
		fmt.Fprint(t, console.Short(fmt.Sprint(c)))
	}
	fmt.Fprintln(t)
}

// head writes the head of a table of n rows, or none if n is 0.
func (t table) head(n int, none string, heads ...any) {
	if n == 0 {
		heads = []any{none}
	}
	t.row(heads...)
}

var deadLetterHeads = []any{"DEAD LETTER", "TASK", "TIME", "REASON"}

func (t table) deadLetter(a cluster.DeadLetter) {
	t.row(a.ID, a.Task, a.Time.Local().Format(time.DateTime), a.Reason)
}

// limit returns a limit as text; 0 is none.
func limit(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}
