// Package run is "stint run": it runs a command for every input.
package run

import (
	"errors"
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

// ParseDuration parses a number of seconds, or a duration as Go writes it.
func ParseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if seconds, failed := strconv.ParseFloat(s, 64); failed == nil && seconds < math.MaxInt64/1e9 {
		d, err = time.Duration(seconds*float64(time.Second)), nil
	}
	if err != nil || d < 0 {
		return 0, errors.New("want seconds or a duration, such as 1.5 or 2m30s")
	}
	return d, nil
}

// A Halt says when to end a run early. The zero value is never.
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

// ParseHalt parses never, or soon or now with ,fail=N or ,success=N.
func ParseHalt(s string) (Halt, error) {
	if s == "never" {
		return Halt{}, nil
	}
	when, condition, has := strings.Cut(s, ",")
	if !has {
		condition = "fail=1"
	}
	what, count, _ := strings.Cut(condition, "=")
	n, err := strconv.Atoi(count)
	h := Halt{When: map[string]When{"soon": Soon, "now": Now}[when], Count: n, Success: what == "success"}
	if h.When == Never || err != nil || n < 1 || what != "fail" && !h.Success {
		return Halt{}, errors.New("want never, or soon or now with ,fail=N or ,success=N, such as now,fail=1")
	}
	return h, nil
}
