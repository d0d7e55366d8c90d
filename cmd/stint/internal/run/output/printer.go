package output

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/limit"
	"github.com/stint-go/stint/cmd/stint/internal/spool"
)

const (
	outputMemory = 16 << 20    // bytes of output that is kept in memory; more is in files
	streamDelay  = time.Second // for which the job whose turn it is runs before its output is printed as it comes
)

// A Format says how output is printed.
type Format struct {
	Unordered, LineBuffer, Ungroup bool
	Tag, JSON                      bool
	Results                        string // a directory
	NoWait                         bool   // no job waits for room: the output of all comes on one goroutine, from workers
}

// ErrTurn is why a job that waits for a permit starts without one.
var ErrTurn = errors.New("it is its turn, and others wait for it")

// errNoRoom is the error of a job whose output must be kept until it has ended.
var errNoRoom = errors.New("no room for its output: the temporary file is full")

// A Printer prints the output of jobs: that of each job in one piece, in the order of the
// jobs or, with --unordered, as they end.
//
// The output of a job is kept while it runs. In order, the job whose turn it is streams once
// it has run for streamDelay: what it writes goes straight to the output. Out of order, a job
// streams only when there is no room to keep more; it then owns the output until it ends. So
// one job can always go on, however little room there is. A job whose output cannot be printed
// before it has ended, as it may be tried again, waits for room until it is its turn, or out of
// order until all others wait, and then fails. Before a job starts it waits for a permit: if it
// is its turn and others wait for room, it starts without one, as they may have all.
type Printer struct {
	o       Format
	console *console.Console
	std     console.Streams
	out     *console.Output
	spool   *spool.Spool

	mu    sync.Mutex
	freed sync.Cond              // owner has become nil
	jobs  map[int64]*Job         // started and not printed, by position
	of    map[*spool.Buffer]*Job // whose buffer it is
	turn  int64                  // position of the job to print next, in order
	start map[int64]func()       // makes a job start that waits for a permit, by position
	owner *Job                   // the one that streams, out of order
	over  bool                   // the run ends early: no job waits for room, and none starts to stream
}

// New returns a Printer. It calls failed with the first error of the output.
func New(o Format, std console.Streams, c *console.Console, failed func(error)) *Printer {
	p := &Printer{o: o, console: c, std: std, out: console.NewOutput(std.Stdout, c, failed), jobs: make(map[int64]*Job), of: make(map[*spool.Buffer]*Job), start: make(map[int64]func())}
	p.freed.L = &p.mu
	warn := func(err error) {
		c.Message("no temporary file for output: " + console.Reason(err) + "; jobs wait until the output of others is printed")
	}
	p.spool = spool.New(outputMemory, limit.MaxFiles()/2, "", warn, p.stuck) // jobs have the other half
	return p
}

// Begin prepares j for an attempt, perhaps the last one.
func (p *Printer) Begin(j *Job, last bool) {
	j.last = last
	switch {
	case p.o.Ungroup:
		j.Streams = Streams{&Stream{to: straight(p.std.Stdout)}, &Stream{to: straight(p.std.Stderr)}}
		return
	case p.o.LineBuffer:
		stdout, stderr := p.destinations(j)
		j.Streams = Streams{&Stream{to: &lineWriter{w: stdout}}, &Stream{to: &lineWriter{w: stderr}}}
		return
	}
	s := p.newStreams(j)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.addLocked(j, s)
	j.Streams = s // with the line before: giveTurn finds both or nothing
	j.began, j.streamed = time.Now(), false
	if j.streams() && !p.o.Unordered {
		j.timer = time.AfterFunc(streamDelay, p.giveTurn)
	}
}

// destinations returns where the output of j is printed.
func (p *Printer) destinations(j *Job) (stdout, stderr io.Writer) {
	stdout, stderr = p.out, errorWriter{p}
	if p.o.Tag {
		tag := append(tagOf(j.Items), '\t')
		stdout, stderr = &tagWriter{w: stdout, tag: tag}, &tagWriter{w: stderr, tag: tag}
	}
	return stdout, stderr
}

// Open returns streams that keep output of j.
func (p *Printer) Open(j *Job) Streams {
	s := p.newStreams(j)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.addLocked(j, s)
	return s
}

func (p *Printer) newStreams(j *Job) Streams {
	stdout, stderr := p.destinations(j)
	return Streams{&Stream{to: stdout, buffer: p.spool.NewBuffer()}, &Stream{to: stderr, buffer: p.spool.NewBuffer()}}
}

// addLocked notes that output of j is kept.
func (p *Printer) addLocked(j *Job, s Streams) {
	p.jobs[j.Position], p.of[s.Stdout.buffer], p.of[s.Stderr.buffer] = j, j, j
}

// removeLocked is the reverse for output.
func (p *Printer) removeLocked(s Streams) {
	if s.Stdout != nil {
		delete(p.of, s.Stdout.buffer)
		delete(p.of, s.Stderr.buffer)
	}
}

// Discard drops output that is not printed.
func (p *Printer) Discard(s Streams) {
	p.mu.Lock()
	p.removeLocked(s)
	p.mu.Unlock()
	s.discard()
}

// Drop drops the output of a failed attempt. It reports false if some was printed already.
func (p *Printer) Drop(j *Job) bool {
	p.mu.Lock()
	printed := j.streamed && j.Stdout.Len()+j.Stderr.Len() > 0
	p.mu.Unlock()
	if !printed {
		p.forget(j)
		j.discard()
	}
	return !printed
}

// forget removes j.
func (p *Printer) forget(j *Job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.jobs, j.Position)
	p.removeLocked(j.Streams)
	if p.owner == j {
		p.owner = nil
		p.freed.Broadcast()
	}
	if j.timer != nil {
		j.timer.Stop()
	}
}

// giveTurn looks at the job whose turn it is, in order. It lets the job stream, if it may and
// has run for long enough or waits for room; there will be none if the job cannot stream.
func (p *Printer) giveTurn() {
	p.mu.Lock()
	j := p.jobs[p.turn]
	switch {
	case p.o.Unordered || p.over || p.o.NoWait:
	case j == nil:
		if start := p.start[p.turn]; start != nil && p.spool.Blocked() != nil {
			start()
		}
	case j.streams() && (j.blocked() || time.Since(j.began) >= streamDelay):
		p.streamAndUnlock(j)
		return
	case !j.streams() && j.blocked():
		j.abandon(errNoRoom)
	}
	p.mu.Unlock()
}

// AwaitStart returns a context for the time in which j waits for a permit. It ends with ErrTurn
// if it is the turn of j and others wait for room: they may have all permits.
func (p *Printer) AwaitStart(ctx context.Context, j *Job) (waiting context.Context, stop func()) {
	if p.o.Unordered { // nobody has a turn
		return ctx, func() {}
	}
	waiting, cancel := context.WithCancelCause(ctx)
	p.mu.Lock()
	p.start[j.Position] = func() { cancel(ErrTurn) }
	p.mu.Unlock()
	p.giveTurn()
	return waiting, func() {
		p.mu.Lock()
		delete(p.start, j.Position)
		p.mu.Unlock()
		cancel(nil)
	}
}

// streamAndUnlock lets j stream. mu is held, and is not when it returns.
func (p *Printer) streamAndUnlock(j *Job) {
	j.streamed = true
	s := j.Streams // of this attempt
	p.mu.Unlock()
	s.print()
}

// stuck is called when there is no room for more of b.
func (p *Printer) stuck(b *spool.Buffer) {
	p.mu.Lock()
	j := p.of[b]
	switch {
	case j == nil: // it ends
		p.mu.Unlock()
	case p.over, p.o.NoWait:
		j.abandon(errNoRoom)
		p.mu.Unlock()
		b.Discard()
	case !p.o.Unordered:
		p.mu.Unlock()
		p.giveTurn()
	case p.owner != nil, !j.streams() && p.othersGoOn(j): // when one has ended, help finds b
		p.mu.Unlock()
	case j.streams():
		p.owner = j
		p.streamAndUnlock(j)
	default:
		j.abandon(errNoRoom)
		p.mu.Unlock()
	}
}

// othersGoOn reports whether a job other than j does not wait for room: when it has ended,
// there may be some. It is called with mu held.
func (p *Printer) othersGoOn(j *Job) bool {
	for _, other := range p.jobs {
		if other != j && !other.blocked() {
			return true
		}
	}
	return false
}

// Ended prints the end of the last lines of j, and lets another job stream, out of order: all
// that j has written is printed.
func (p *Printer) Ended(j *Job) {
	if p.o.LineBuffer && j.Stdout != nil {
		j.print()
	}
	p.mu.Lock()
	isOwner := p.owner == j
	if isOwner {
		p.owner = nil
		p.freed.Broadcast()
	}
	p.mu.Unlock()
	if isOwner {
		p.help()
	}
}

// help lets a job stream that waits for room.
func (p *Printer) help() {
	if b := p.spool.Blocked(); b != nil {
		p.stuck(b)
	}
}

// Abort lets no job wait for room any more, as the run ends early.
func (p *Printer) Abort() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	for b := p.spool.Blocked(); b != nil; b = p.spool.Blocked() {
		p.stuck(b)
	}
}

// Skip drops j, which has no result.
func (p *Printer) Skip(j *Job) {
	defer p.next(j)
	j.discard()
}

// Finish prints j, which has ended. Jobs in order come in that order.
func (p *Printer) Finish(j *Job) {
	defer p.next(j)
	if p.o.Unordered {
		p.mu.Lock()
		for p.owner != nil && p.owner != j {
			p.freed.Wait()
		}
		p.owner = j
		p.mu.Unlock()
	}
	if p.o.JSON {
		p.object(j)
		j.discard()
		return
	}
	j.print()
}

// next lets another job have its turn after j.
func (p *Printer) next(j *Job) {
	p.forget(j)
	p.mu.Lock()
	p.turn = j.Position + 1
	p.mu.Unlock()
	if !p.o.Unordered {
		p.giveTurn()
		return
	}
	p.help()
}

// Rest prints the jobs that have ended and were not printed, as an earlier one has not ended.
func (p *Printer) Rest() {
	p.mu.Lock()
	var ended []*Job
	for _, j := range p.jobs {
		ended = append(ended, j)
	}
	p.mu.Unlock()
	slices.SortFunc(ended, func(a, b *Job) int { return int(a.Position - b.Position) })
	for _, j := range ended {
		if j.Interrupted {
			p.Skip(j)
		} else {
			p.Finish(j)
		}
	}
}

// Close writes what is left, and returns the first error of the output.
func (p *Printer) Close() error {
	err := p.out.Flush()
	p.spool.Close()
	return err
}
