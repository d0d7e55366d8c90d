package advise

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/lab/measure"
)

// A Command is a command line whose {} stands for an index. Its standard output
// is discarded.
type Command struct {
	program string
	args    []string     // as given
	used    atomic.Int64 // ns of CPU time
}

// NewCommand returns the command line args, or an error if the program does not
// exist. It panics if args is empty.
func NewCommand(args []string) (*Command, error) {
	if len(args) == 0 {
		panic("advise: NewCommand: no command")
	}
	program, err := exec.LookPath(args[0])
	if err != nil {
		return nil, err
	}
	return &Command{program: program, args: slices.Clone(args)}, nil
}

// Run runs the command for an index. When ctx ends, it kills the command and
// its descendants and returns the error of ctx. A status other than 0 is an
// error that includes the beginning of the command's standard error.
func (c *Command) Run(ctx context.Context, i int) error {
	args := make([]string, len(c.args))
	for k, arg := range c.args {
		args[k] = strings.ReplaceAll(arg, "{}", strconv.Itoa(i))
	}
	stderr := &head{room: 500}
	cmd := exec.CommandContext(ctx, c.program)
	cmd.Args = args
	cmd.Stderr = stderr
	cmd.WaitDelay = time.Second
	measure.KillGroup(cmd)
	err := cmd.Run()
	if cmd.ProcessState != nil {
		c.used.Add(int64(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()))
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("%s: %w%s", strings.Join(args, " "), err, stderr)
	}
	return nil
}

// CPU returns the CPU time of this process and of the finished commands, or
// false if it is not known.
func (c *Command) CPU() (time.Duration, bool) {
	own, ok := measure.OwnCPU()
	return own + time.Duration(c.used.Load()), ok
}

// Lines returns command lines that follow the advice, with "stint run" and with
// xargs, or nil if there is no advice. stint run finds the number of jobs itself if
// the adaptive limit is as good as any.
func (c *Command) Lines(a *Advice) []string {
	best := a.row(a.Best)
	if best == nil {
		return nil
	}
	jobs := max(1, best.Limit) // of the loop: 1
	if a.Auto != nil && best == a.adaptive() {
		jobs = max(1, int(a.Auto.Limit.Median))
	}
	run := fmt.Sprintf("stint run -j %d ", jobs)
	if a.Best == freeName {
		run = "stint run "
	}
	command := quote(c.args)
	seq := fmt.Sprintf("seq 0 %d | ", a.N-1)
	xargs := fmt.Sprintf("%sxargs -P %d -I{} %s", seq, jobs, command)
	if !strings.Contains(command, "{}") {
		run, command = run+"-s ", quote([]string{command}) // or it would get the index
	}
	return []string{seq + run + command, xargs}
}

// plain are words that a shell takes as they are.
var plain = regexp.MustCompile(`^([\w@%+=:./-]|\{\})+$`)

// quote returns words as a shell takes them.
func quote(words []string) string {
	var out []string
	for _, w := range words {
		if !plain.MatchString(w) {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// A head keeps the beginning of what is written to it.
type head struct {
	room int
	text bytes.Buffer
	more bool
}

func (h *head) Write(p []byte) (int, error) {
	kept := p[:min(len(p), h.room-h.text.Len())]
	h.text.Write(kept)
	h.more = h.more || len(kept) < len(p)
	return len(p), nil
}

// String returns the text, to be appended to an error.
func (h *head) String() string {
	said := strings.TrimSpace(h.text.String())
	switch {
	case said == "":
		return ""
	case h.more:
		said += "..."
	}
	return ": " + said
}
