// Package run is "stint run": it runs a command for every input.
package run

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/machine"
	"github.com/stint-go/stint/cmd/stint/internal/run/command"
	"github.com/stint-go/stint/cmd/stint/internal/run/local"
	"github.com/stint-go/stint/cmd/stint/internal/run/output"
	"github.com/stint-go/stint/cmd/stint/internal/server"
)

// Options are the flags of "stint run", and its operands.
type Options struct {
	command.Spec
	output.Format
	local.Policy

	Lists     [][]string // after each :::
	Files     []string   // of --arg-file
	Null      bool
	Delimiter string
	MaxArgs   int
	Fit       bool // -X
	ColSep    string
	Trim      bool         // white space around items
	Block     machine.Size // of --pipe

	JobsGiven bool   // the number of jobs, by a flag: a make that has started this run does not share its own
	Jobserver string // for makes in jobs: auto, fifo or pipe; empty: there is none

	Halt     Halt
	DryRun   bool
	Quiet    bool
	Progress string

	Joblog               string // a file
	Resume, ResumeFailed bool
	Trace                string // a file
	Summary              bool

	Server server.Connection // workers of this server run the jobs; without a URL this process does
}

// A Duration is a flag: a number of seconds, or a duration as Go writes it.
type Duration time.Duration

// Set parses s.
func (d *Duration) Set(s string) error {
	if seconds, err := strconv.ParseFloat(s, 64); err == nil {
		if !(seconds >= 0 && seconds < math.MaxInt64/1e9) {
			return errors.New("want a duration that is not negative, such as 1.5 or 2m30s")
		}
		*d = Duration(seconds * float64(time.Second))
		return nil
	}
	got, err := time.ParseDuration(s)
	if err != nil || got < 0 {
		return errors.New("want seconds or a duration, such as 1.5 or 2m30s")
	}
	*d = Duration(got)
	return nil
}

// String formats d; "" is the default of a flag.
func (d *Duration) String() string {
	if *d == 0 {
		return ""
	}
	return time.Duration(*d).String()
}

// Type returns the name of the value in the help.
func (d *Duration) Type() string { return "duration" }

// A Halt is a flag: when to end a run early. The zero value is never.
type Halt struct {
	When    When
	Count   int  // of jobs
	Success bool // that succeed; otherwise that fail
}

// When says how a run ends early.
type When int

const (
	Never When = iota
	Soon       // no more jobs start
	Now        // and those that run are terminated
)

// Set parses s: never, or soon or now with ,fail=N or ,success=N.
func (h *Halt) Set(s string) error {
	when, condition, has := strings.Cut(s, ",")
	what, count, _ := strings.Cut(condition, "=")
	n, err := strconv.Atoi(count)
	got := Halt{Count: n, Success: what == "success"}
	switch when {
	case "never":
		if !has {
			*h = Halt{}
			return nil
		}
	case "soon":
		got.When = Soon
	case "now":
		got.When = Now
	}
	if !has {
		got.Count, err, what = 1, nil, "fail"
	}
	if got.When == Never || err != nil || got.Count < 1 || what != "fail" && what != "success" {
		return errors.New("want never, or soon or now with ,fail=N or ,success=N, such as now,fail=1")
	}
	*h = got
	return nil
}

// String formats h; "" is the default of a flag.
func (h *Halt) String() string {
	if h.When == Never {
		return ""
	}
	what := "fail"
	if h.Success {
		what = "success"
	}
	return fmt.Sprintf("%s,%s=%d", [...]string{"never", "soon", "now"}[h.When], what, h.Count)
}

// Type returns the name of the value in the help.
func (h *Halt) Type() string { return "when" }
