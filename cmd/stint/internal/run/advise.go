package run

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/advise"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/run/output"
	"github.com/stint-go/stint/cmd/stint/internal/template"
)

// AdviseOptions are the flags of "stint advise" that "stint run" does not have.
type AdviseOptions struct {
	advise.Options
	N int // the items are 0 to N-1; 0: they are those of the Runner
}

// runsOfConstant is how many times a command runs that needs no items, if none are given.
const runsOfConstant = 100

// An adviser measures the command of a Runner.
type adviser struct {
	*Runner
	o     AdviseOptions
	items [][]string // of each job
	named bool       // the command has a place for them
	seed  maphash.Seed

	started, running, used atomic.Int64 // commands, and the CPU time of those that have ended

	mu      sync.Mutex
	memory  int64            // bytes, the most of a command
	alone   map[int][]uint64 // the outputs for an item while no other command ran
	differs string           // a command whose output was another one beside others
}

// Advise measures the command. The report has the lines to write; after an error it is
// nil if nothing was measured. watcher is as in Run.
func (r *Runner) Advise(ctx context.Context, o AdviseOptions, watcher []string) (*advise.Report, error) {
	ctx, r.cancel = context.WithCancelCause(ctx)
	defer r.cancel(nil)
	a, err := r.newAdviser(ctx, o)
	if err != nil {
		return nil, err
	}
	r.MemFree = 1 // commands wait until there is the memory that they need
	if r.executor, err = r.newExecutor(ctx, nil, watcher); err != nil {
		return nil, err
	}
	defer r.executor.Close()
	r.executor.Kill = nil
	known, began := new(atomic.Value), time.Now()
	known.Store("measuring.")
	stop := r.console.Follow(r.std.Progress("auto", false), func() string {
		return fmt.Sprintf("%v of %v: %s Ctrl-C for the answer so far", time.Since(began).Round(time.Second), o.Budget, known.Load())
	}, func() string { return "" })
	defer stop()
	o.CPU = func() time.Duration { return time.Duration(a.used.Load()) }
	o.Progress = func(r *advise.Report) { known.Store(string(r.Work) + ". " + r.Reason) }
	limited, cancel := context.WithTimeout(ctx, o.Budget)
	defer cancel()
	report, err := o.Run(limited, len(a.items), a.call)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil { // the budget is spent
		err = nil
	}
	if err != nil && report.Item.Measured == 0 {
		return nil, err
	}
	report.Item.Memory = uint64(a.memory)
	if a.differs != "" {
		report.Answer, report.Limit, report.Best, report.Code = advise.No, 1, &advise.Model{Name: "loop", Limit: 1}, ""
		report.Reason = "the output of " + console.Short(a.differs) + " was always the same alone, and another one beside others, so the commands depend on each other."
	}
	report.Code = strings.TrimSpace(a.lines(report) + "\n\n" + report.Code)
	return report, err
}

// newAdviser finds the command, and reads the items.
func (r *Runner) newAdviser(ctx context.Context, o AdviseOptions) (*adviser, error) {
	a := &adviser{Runner: r, o: o, named: r.command.HasPlace(), seed: maphash.MakeSeed(), alone: make(map[int][]uint64)}
	if o.N == 0 && !a.named && len(r.Files)+len(r.Lists) == 0 && isDevice(r.std.Stdin) {
		a.o.N = runsOfConstant
	}
	if o = a.o; o.N > 0 {
		r.Quiet, r.input.Lists = true, make([][]string, 1) // all commands may be the same
		for i := range o.N {
			r.input.Lists[0] = append(r.input.Lists[0], strconv.Itoa(i))
		}
	}
	r.warn()
	if err := r.command.Find(); err != nil {
		return nil, err
	}
	r.reading = ctx
	source, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	for j, err := range r.all(ctx, source) {
		if err != nil {
			return nil, err
		}
		if o.N > 0 && !a.named {
			j.Items = nil
		}
		a.items = append(a.items, j.Items)
	}
	if len(a.items) == 0 {
		return nil, console.Failure("there are no items: give them after ::: or on standard input, or run the command for numbers by --n N")
	}
	return a, nil
}

// isDevice reports whether a stream is a terminal or another character device, as the null device.
func isDevice(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// call runs the command for an item.
func (a *adviser) call(ctx context.Context, i int) error {
	x, j := a.executor, &output.Job{Seq: int64(i) + 1, Items: a.items[i]}
	slot := x.Slots.Take()
	defer x.Slots.Put(slot)
	turn, beside := a.started.Add(1), a.running.Add(1) > 1
	defer a.running.Add(-1)
	if beside && x.Limit.Await(ctx, func(int64) { a.console.Message("waiting for memory") }) != nil {
		return context.Cause(ctx)
	}
	c, err := a.command.Make(j.Items, j.Seq, slot)
	if err != nil {
		return err
	}
	var out maphash.Hash
	var said beginning
	out.SetSeed(a.seed)
	c.Stdout, c.Stderr = &out, &said
	j.Err = x.Start(ctx, j, c)
	a.used.Add(int64(j.CPU))
	if j.Failed() && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return a.ended(i, j, beside || a.started.Load() != turn, out.Sum64(), strings.TrimSpace(string(said)))
}

// ended compares the output for an item with that of the same item alone, or returns how the command has failed.
func (a *adviser) ended(i int, j *output.Job, beside bool, sum uint64, said string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	alone, told := a.alone[i], a.command.Told(j.Items, j.Seq)
	a.memory = max(a.memory, j.MaxRSS)
	switch {
	case j.Failed():
		text := strings.TrimSuffix(told+": "+j.Reason()+": "+said, ": ")
		if beside {
			text += "; others ran at the same time: items may depend on each other, or share what serves fewer at a time: see --most"
		}
		return console.Failure(text)
	case !beside:
		a.alone[i] = append(alone, sum)
	case len(alone) > 1 && !slices.Contains(alone, sum) && slices.Min(alone) == slices.Max(alone):
		a.differs = told
	}
	return nil
}

// lines returns the command lines that follow a report: of stint run, and with --n of xargs, if it
// does the same.
func (a *adviser) lines(r *advise.Report) string {
	flags, command, unnamed := "", template.Quote(a.Command), a.o.N > 0 && !a.named
	if r.Answer != advise.NotSure && r.Best.Limit > 0 { // stint run would find a worse number, or none
		flags = fmt.Sprintf("-j %d ", r.Best.Limit)
	}
	if a.Null {
		flags += "-0 "
	}
	for _, name := range a.Files {
		flags += "-a " + template.Quote([]string{name}) + " "
	}
	script := command
	if a.Shell {
		script = strings.Join(a.Command, " ")
	}
	if unnamed { // a script, to which nothing is appended, without a warning
		flags, command = flags+"-s ", template.Quote([]string{": {}; " + script})
	} else if a.Shell {
		flags += "-s "
	}
	line := strings.TrimSpace("stint run " + flags + command)
	for _, list := range a.Lists {
		items := template.Quote(list)
		if len(items) > 2000 { // more would not be read; a shell refuses this
			items = "<ITEMS>"
		}
		line += " ::: " + items
	}
	if a.o.N == 0 {
		return line
	}
	numbers := fmt.Sprintf("seq 0 %d | ", a.o.N-1)
	line = numbers + line
	rest := strings.NewReplacer("${}", "{", "{}", "").Replace(script) // it may have placeholders that xargs does not
	if r.Limit > 1 && !a.Shell && !strings.Contains(rest, "{") {
		line += fmt.Sprintf("\n%sxargs -P %d -I{} %s", numbers, r.Limit, script)
	}
	return line
}

// A beginning keeps the first bytes that are written to it.
type beginning []byte

func (b *beginning) Write(p []byte) (int, error) {
	const most = 200
	*b = append(*b, p[:min(len(p), most-len(*b))]...)
	return len(p), nil
}
