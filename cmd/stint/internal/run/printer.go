package run

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/spool"
)

const (
	outputMemory = 16 << 20    // bytes of output that is kept in memory; more is in a file
	streamDelay  = time.Second // for which the job whose turn it is runs before its output is printed as it comes
)

// errTurn is why a job that waits for a permit starts without one.
var errTurn = errors.New("it is its turn, and others wait for it")

// errNoRoom is the error of a job whose output must be kept until it has ended.
var errNoRoom = errors.New("no room for its output: the temporary file is full")

// A printer prints the output of jobs: that of each job in one piece, in the order of the
// jobs or, with --unordered, as they end.
//
// The output of a job is kept while it runs. In order, the job whose turn it is streams once
// it has run for streamDelay: what it writes goes straight to the output. Out of order, a job
// streams only when there is no room to keep more; it then owns the output until it ends. So
// one job can always go on, however little room there is. A job whose output cannot be printed
// before it has ended, as it may be tried again, waits for room until it is its turn, or out of
// order until all others wait, and then fails. Before a job starts it waits for a permit: if it
// is its turn and others wait for room, it starts without one, as they may have all.
type printer struct {
	o       *Options
	console *console.Console
	std     console.Streams
	out     *console.Output
	spool   *spool.Spool

	mu    sync.Mutex
	freed sync.Cond              // owner has become nil
	jobs  map[int64]*job         // started and not printed, by position
	of    map[*spool.Buffer]*job // whose buffer it is
	turn  int64                  // position of the job to print next, in order
	start map[int64]func()       // makes a job start that waits for a permit, by position
	owner *job                   // the one that streams, out of order
	over  bool                   // the run ends early: no job waits for room, and none starts to stream
}

// newPrinter returns a printer. It calls failed with the first error of the output.
func newPrinter(o *Options, std console.Streams, c *console.Console, failed func(error)) *printer {
	p := &printer{o: o, console: c, std: std, out: console.NewOutput(std.Stdout, c, failed), jobs: make(map[int64]*job), of: make(map[*spool.Buffer]*job), start: make(map[int64]func())}
	p.freed.L = &p.mu
	warn := func(err error) {
		c.Message("no temporary file for output: " + console.Reason(err) + "; jobs wait until the output of others is printed")
	}
	p.spool = spool.New(outputMemory, "", warn, p.stuck)
	return p
}

// begin prepares j for an attempt.
func (p *printer) begin(j *job) {
	switch {
	case p.o.Ungroup:
		j.stdout, j.stderr = &stream{to: straight(p.std.Stdout)}, &stream{to: straight(p.std.Stderr)}
		return
	case p.o.LineBuffer:
		stdout, stderr := p.destinations(j)
		j.stdout, j.stderr = &stream{to: &lineWriter{w: stdout}}, &stream{to: &lineWriter{w: stderr}}
		return
	}
	stdout, stderr := p.newStreams(j)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.addLocked(j, stdout, stderr)
	j.stdout, j.stderr = stdout, stderr // with the line before: giveTurn finds both or nothing
	j.began, j.streamed = time.Now(), false
	if j.streams() && !p.o.Unordered {
		j.timer = time.AfterFunc(streamDelay, p.giveTurn)
	}
}

// destinations returns where the output of j is printed.
func (p *printer) destinations(j *job) (stdout, stderr io.Writer) {
	stdout, stderr = p.out, errorWriter{p}
	if p.o.Tag {
		tag := append(tagOf(j.items), '\t')
		stdout, stderr = &tagWriter{w: stdout, tag: tag}, &tagWriter{w: stderr, tag: tag}
	}
	return stdout, stderr
}

// open returns streams that keep output of j.
func (p *printer) open(j *job) (stdout, stderr *stream) {
	stdout, stderr = p.newStreams(j)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.addLocked(j, stdout, stderr)
	return stdout, stderr
}

func (p *printer) newStreams(j *job) (stdout, stderr *stream) {
	toStdout, toStderr := p.destinations(j)
	return &stream{to: toStdout, buffer: p.spool.NewBuffer()}, &stream{to: toStderr, buffer: p.spool.NewBuffer()}
}

// addLocked notes that output of j is kept.
func (p *printer) addLocked(j *job, stdout, stderr *stream) {
	p.jobs[j.position], p.of[stdout.buffer], p.of[stderr.buffer] = j, j, j
}

// discard drops output that is not printed.
func (p *printer) discard(o *output) {
	p.mu.Lock()
	delete(p.of, o.stdout.buffer)
	delete(p.of, o.stderr.buffer)
	p.mu.Unlock()
	o.stdout.discard()
	o.stderr.discard()
}

// drop drops the output of a failed attempt. It reports false if some was printed already.
func (p *printer) drop(j *job) bool {
	p.mu.Lock()
	printed := j.streamed && j.stdout.bytes.Load()+j.stderr.bytes.Load() > 0
	p.mu.Unlock()
	if !printed {
		p.forget(j)
		j.stdout.discard()
		j.stderr.discard()
	}
	return !printed
}

// forget removes j.
func (p *printer) forget(j *job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.jobs, j.position)
	for _, s := range []*stream{j.stdout, j.stderr} {
		if s != nil {
			delete(p.of, s.buffer)
		}
	}
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
func (p *printer) giveTurn() {
	p.mu.Lock()
	j := p.jobs[p.turn]
	switch {
	case p.o.Unordered || p.over || p.isRemote():
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

// awaitStart returns a context for the time in which j waits for a permit. It ends with errTurn
// if it is the turn of j and others wait for room: they may have all permits.
func (p *printer) awaitStart(ctx context.Context, j *job) (waiting context.Context, stop func()) {
	if p.o.Unordered { // nobody has a turn
		return ctx, func() {}
	}
	waiting, cancel := context.WithCancelCause(ctx)
	p.mu.Lock()
	p.start[j.position] = func() { cancel(errTurn) }
	p.mu.Unlock()
	p.giveTurn()
	return waiting, func() {
		p.mu.Lock()
		delete(p.start, j.position)
		p.mu.Unlock()
		cancel(nil)
	}
}

// streamAndUnlock lets j stream. mu is held, and is not when it returns.
func (p *printer) streamAndUnlock(j *job) {
	j.streamed = true
	stdout, stderr := j.stdout, j.stderr // of this attempt
	p.mu.Unlock()
	stdout.print()
	stderr.print()
}

// stuck is called when there is no room for more of b.
func (p *printer) stuck(b *spool.Buffer) {
	p.mu.Lock()
	j := p.of[b]
	switch {
	case j == nil: // it ends
		p.mu.Unlock()
	case p.over, p.isRemote():
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

// isRemote reports whether the output comes from workers: all of it on one goroutine, so that a
// job that waited would hold up the others.
func (p *printer) isRemote() bool { return p.o.Server.URL != "" }

// othersGoOn reports whether a job other than j does not wait for room: when it has ended,
// there may be some. It is called with mu held.
func (p *printer) othersGoOn(j *job) bool {
	for _, other := range p.jobs {
		if other != j && !other.blocked() {
			return true
		}
	}
	return false
}

// ended prints the end of the last lines of j, and lets another job stream, out of order: all
// that j has written is printed.
func (p *printer) ended(j *job) {
	if p.o.LineBuffer && j.stdout != nil {
		j.stdout.print()
		j.stderr.print()
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
func (p *printer) help() {
	if b := p.spool.Blocked(); b != nil {
		p.stuck(b)
	}
}

// abort lets no job wait for room any more, as the run ends early.
func (p *printer) abort() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	for b := p.spool.Blocked(); b != nil; b = p.spool.Blocked() {
		p.stuck(b)
	}
}

// skip drops j, which has no result.
func (p *printer) skip(j *job) {
	defer p.next(j)
	for _, s := range []*stream{j.stdout, j.stderr} {
		if s != nil {
			s.discard()
		}
	}
}

// finish prints j, which has ended. Jobs in order come in that order.
func (p *printer) finish(j *job) {
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
		j.stdout.discard()
		j.stderr.discard()
		return
	}
	j.stdout.print()
	j.stderr.print()
}

// next lets another job have its turn after j.
func (p *printer) next(j *job) {
	p.forget(j)
	p.mu.Lock()
	p.turn = j.position + 1
	p.mu.Unlock()
	if !p.o.Unordered {
		p.giveTurn()
		return
	}
	p.help()
}

// rest prints the jobs that have ended and were not printed, as an earlier one has not ended.
func (p *printer) rest() {
	p.mu.Lock()
	var ended []*job
	for _, j := range p.jobs {
		ended = append(ended, j)
	}
	p.mu.Unlock()
	slices.SortFunc(ended, func(a, b *job) int { return int(a.position - b.position) })
	for _, j := range ended {
		if j.interrupted {
			p.skip(j)
		} else {
			p.finish(j)
		}
	}
}

// close writes what is left, and returns the first error of the output.
func (p *printer) close() error {
	err := p.out.Flush()
	p.spool.Close()
	return err
}
