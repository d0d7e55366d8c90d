package run

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// A batch is a command that runs for every item.
type batch struct {
	command []string         // the item follows
	n       int              // items
	text    func(int) string // of an item
	jobs    int              // at once; 0: as many as the tool chooses
	others  int              // the same, of peers
	flags   []string         // of stint run
	ordered bool             // output is in the order of the items
	fit     bool             // a command gets as many items as it can
}

// numbered is the text of most items: 20 bytes with the newline.
func numbered(i int) string { return fmt.Sprintf("%019d", i) }

// all returns the texts of the items.
func (b batch) all() []string {
	out := make([]string, b.n)
	for i := range out {
		out[i] = b.text(i)
	}
	return out
}

// A row is a case: a batch that tools run.
type row struct {
	batch
	name, doc string
	tools     []tool
	more      []experiment.Model
	claims    []result.Claim
	samples   int
	prepare   func() error // makes what the jobs need
	skip      error        // why the row cannot be measured

	// enter, if it is not nil, is called before each run, and what it returns after that.
	enter func(*measure.Process) (leave func() error, err error)

	json   bool // stint run says what each job was, instead of its output
	repeat int  // how often the output has each item; 0: it is not looked at
	counts bool // wrong items and failed jobs are counted; otherwise they are errors
}

// kase is the case of a row.
func (l *lab) kase(ctx context.Context, r row) experiment.Case {
	c := experiment.Case{Name: r.name, Doc: "an op is a run of the process: " + r.doc, Reference: nameOurs, Ops: 1, Count: cmp.Or(r.samples, 6), Main: true}
	for _, t := range r.tools {
		c.Models = append(c.Models, experiment.Model{Model: t.Model, Run: func(m *measure.Meter) error { return l.run(ctx, m, r, t) }})
	}
	c.Models = append(c.Models, r.more...)
	return c
}

// itemsFile is the name of the file with a line for each item.
func (l *lab) itemsFile(r row) string { return l.file("items-" + strings.ReplaceAll(r.name, "/", "-")) }

// makeItems makes that file, and what the jobs need.
func (l *lab) makeItems(r row) error {
	err := os.WriteFile(l.itemsFile(r), []byte(strings.Join(r.all(), "\n")+"\n"), 0o666)
	if err == nil && r.prepare != nil {
		err = r.prepare()
	}
	return err
}

// run takes a sample of a tool and checks the output. What true does is not to be seen, so the
// warm-up also runs echo.
func (l *lab) run(ctx context.Context, m *measure.Meter, r row, t tool) (err error) {
	if m.Round < 0 && r.command[0] == "true" {
		echo := r
		echo.command, echo.repeat = []string{"echo"}, 1
		if err := l.run(ctx, new(measure.Meter), echo, t); err != nil {
			return err
		}
	}
	p := measure.Process{Args: t.args(r.batch), Dir: l.dir, Env: l.env(), Input: l.itemsFile(r)}
	if r.enter != nil {
		leave, failed := r.enter(&p)
		if failed != nil {
			return failed
		}
		defer func() { err = cmp.Or(err, leave()) }()
	}
	output := l.file("output")
	u, err := l.launcher.Run(ctx, p, output)
	if err != nil {
		return err
	}
	for unit, v := range u.Sample(0) {
		if unit != measure.Rate {
			m.Report(unit, v)
		}
	}
	wrong := 0
	switch {
	case r.json && (t.Kind == result.Ours || t.Sweep != ""):
		said, failed := readReport(output)
		wrong, err = r.n-said.Succeeded, failed
		m.Report(measure.AtOnce, float64(said.atOnce))
		if t.Kind == result.Ours && m.Round < 0 {
			l.Logf("run: the limit was %d at the end: %s", said.Concurrency.Limit, said.Concurrency.Reason)
		}
	case r.repeat > 0:
		wrong, err = r.wrong(output, r.repeat, r.ordered || t.Kind == result.Ours)
	}
	switch {
	case r.counts:
		m.Report(measure.Failures, float64(wrong))
	case err == nil && wrong > 0:
		err = fmt.Errorf("%d of %d items are missing, repeated, not in order, or failed", wrong, r.n)
	}
	return err
}

// wrong returns how many numbered items an output does not have repeat times, or not where
// they should be. The word echo, which a dry run shows, is ignored.
func (b batch) wrong(output string, repeat int, ordered bool) (n int, err error) {
	f, err := os.Open(output)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	counts, last := make([]int, b.n), 0
	words := bufio.NewScanner(f)
	words.Buffer(nil, 1<<20)
	words.Split(bufio.ScanWords)
	for words.Scan() {
		word := words.Bytes()
		if string(word) == "echo" {
			continue
		}
		i, err := strconv.Atoi(string(word))
		if err != nil || i < 0 || i >= b.n {
			return 0, fmt.Errorf("%.40q is not an item", word)
		}
		if ordered && i < last {
			n++
		}
		counts[i]++
		last = i
	}
	for _, c := range counts {
		if c != repeat {
			n++
		}
	}
	return n, words.Err()
}

// A report is the last line of what --json printed.
type report struct {
	Jobs, Succeeded int
	Concurrency     struct {
		Limit  int
		Reason string
	}

	atOnce int // jobs, at most
}

// readReport reads an output of --json, which has a line for each job before the last.
func readReport(output string) (r report, err error) {
	text, err := os.ReadFile(output)
	if err != nil {
		return r, err
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	jobs := lines[:len(lines)-1]
	if err := json.Unmarshal(lines[len(jobs)], &r); err != nil {
		return r, err
	}
	if r.Jobs != len(jobs) {
		return r, fmt.Errorf("the last line says %d jobs, and there are %d", r.Jobs, len(jobs))
	}
	type event struct {
		at time.Time
		by int
	}
	var events []event
	for _, line := range jobs {
		var job struct {
			Start time.Time
			Time  float64 // seconds
		}
		if err := json.Unmarshal(line, &job); err != nil {
			return r, err
		}
		end := job.Start.Add(time.Duration(job.Time * float64(time.Second)))
		events = append(events, event{job.Start, 1}, event{end, -1})
	}
	slices.SortFunc(events, func(a, b event) int { return cmp.Or(a.at.Compare(b.at), a.by-b.by) })
	now := 0
	for _, e := range events {
		now += e.by
		r.atOnce = max(r.atOnce, now)
	}
	return r, nil
}
