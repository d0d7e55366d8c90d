package advise

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Command is a command line whose {} stands for an index. Its standard output
// is discarded, but compared.
type Command struct {
	program string
	args    []string     // as given
	used    atomic.Int64 // ns of CPU time
	running atomic.Int64
	started atomic.Int64

	mu     sync.Mutex
	alone  map[int]output // by index
	differ error          // that of the first output that was another one beside others
}

// An output is what a command wrote while no other one ran.
type output struct {
	sum    uint64
	runs   int
	varies bool
}

var seed = maphash.MakeSeed()

// NewCommand returns the command line args, or an error if the program does not
// exist. args has at least that.
func NewCommand(args []string) (*Command, error) {
	program, err := exec.LookPath(args[0])
	if err != nil {
		return nil, err
	}
	return &Command{program: program, args: slices.Clone(args), alone: map[int]output{}}, nil
}

// Run runs the command for an index. When ctx ends, it kills the command and
// its descendants and returns the error of ctx. A status other than 0 is an
// error that includes the beginning of the command's standard error, and tells if
// the command succeeded for this index when it ran alone.
func (c *Command) Run(ctx context.Context, i int) error {
	turn := c.started.Add(1)
	beside := c.running.Add(1) > 1
	defer c.running.Add(-1)
	args := make([]string, len(c.args))
	for k, arg := range c.args {
		args[k] = strings.ReplaceAll(arg, "{}", strconv.Itoa(i))
	}
	var out maphash.Hash
	out.SetSeed(seed)
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, c.program)
	cmd.Args, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = args, &out, &stderr, time.Second
	killGroup(cmd)
	err := cmd.Run()
	if cmd.ProcessState != nil {
		c.used.Add(int64(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	beside = beside || c.started.Load() != turn // another one started meanwhile
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.alone[i]
	switch {
	case err != nil:
		said := strings.TrimSpace(fmt.Sprintf("%s: %v: %.500s", strings.Join(args, " "), err, stderr.String()))
		err = errors.New(strings.TrimSuffix(said, ":"))
		if beside && o.runs > 0 {
			err = fmt.Errorf("%w\nIt succeeded alone: the items depend on each other, or share something that serves fewer of them at a time (see --most)", err)
		}
		return err
	case !beside:
		c.alone[i] = output{out.Sum64(), o.runs + 1, o.varies || o.runs > 0 && o.sum != out.Sum64()}
	case o.runs > 1 && !o.varies && o.sum != out.Sum64() && c.differ == nil:
		c.differ = fmt.Errorf("the output of %s differed while others ran: items that depend on each other must not run concurrently", strings.Join(args, " "))
	}
	return nil
}

// Check returns an error if an output that was always the same when the command ran alone
// was another one beside others.
func (c *Command) Check() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.differ
}

// CPU returns the CPU time of this process and of the finished commands, or
// false if it is not known.
func (c *Command) CPU() (time.Duration, bool) {
	own, ok := ownCPU()
	return own + time.Duration(c.used.Load()), ok
}

// Lines returns command lines that follow the advice, with "stint run" and with
// xargs, or nil if there is no advice. stint run finds the number of jobs itself if
// the adaptive limit is as good as any.
func (c *Command) Lines(a *Advice) []string {
	best := a.Best
	if best == nil {
		return nil
	}
	jobs := max(1, best.Limit) // of the loop: 1
	if best == a.adaptive() {
		jobs = min(max(1, int(a.Limit)), a.N)
	}
	run := fmt.Sprintf("stint run -j %d ", jobs)
	if best.Name == freeName {
		run = "stint run "
	}
	command := quote(c.args)
	seq := fmt.Sprintf("seq 0 %d | ", a.N-1)
	xargs := fmt.Sprintf("%sxargs -P %d -I{} %s", seq, jobs, command)
	if !strings.Contains(command, "{}") {
		run, command = run+"-s ", quote([]string{": {}; " + command}) // the command runs as often as there are indices, without a warning
	}
	return []string{seq + run + command, xargs}
}

// plain are words that a shell takes as they are.
var plain = regexp.MustCompile(`^([\w@%+=:./-]|\{\})+$`)

// quote returns words as a shell takes them.
func quote(words []string) string {
	out := slices.Clone(words)
	for i, w := range out {
		if !plain.MatchString(w) {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
