package run

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// A report is what --json printed.
type report struct {
	Jobs, Succeeded, Failed int
	Concurrency             struct {
		Limit  int
		Reason string
	}

	atOnce int // jobs, at most
}

// A line is a job in the output of --json, or its last line, a report.
type line struct {
	Start  time.Time
	Time   float64 // seconds
	Status *int
}

// readReport reads an output of --json.
func readReport(output string) (*report, error) {
	f, err := os.Open(output)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var jobs []line
	r := new(report)
	for d := json.NewDecoder(bufio.NewReader(f)); ; {
		var text json.RawMessage
		if err := d.Decode(&text); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		var j line
		if err := json.Unmarshal(text, &j); err != nil {
			return nil, err
		}
		if j.Status != nil {
			jobs = append(jobs, j)
		} else if err := json.Unmarshal(text, r); err != nil {
			return nil, err
		}
	}
	if r.Jobs != len(jobs) {
		return nil, fmt.Errorf("the last line says %d jobs, and there are %d", r.Jobs, len(jobs))
	}
	r.atOnce = atOnce(jobs)
	return r, nil
}

// atOnce returns how many jobs ran at the same time, at most.
func atOnce(jobs []line) int {
	type event struct {
		at time.Time
		by int
	}
	var events []event
	for _, j := range jobs {
		end := j.Start.Add(time.Duration(j.Time * float64(time.Second)))
		events = append(events, event{j.Start, 1}, event{end, -1})
	}
	slices.SortFunc(events, func(a, b event) int { return cmp.Or(a.at.Compare(b.at), a.by-b.by) })
	now, most := 0, 0
	for _, e := range events {
		now += e.by
		most = max(most, now)
	}
	return most
}
