package output

import (
	"errors"
	"io"
	"slices"
	"strings"
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

// errNoRoom is the error of a job whose output must be kept until it has ended.
var errNoRoom = errors.New("no room for its output: the temporary file is full")

// passes reports whether output is passed on as it comes.
func (o *Format) passes() bool { return o.LineBuffer || o.Ungroup }

// A Printer prints the output of jobs: that of each job in one piece, in the order of the
// jobs or, with --unordered, as they end.
//
// The output of a job is kept while it runs. In order, the job whose turn it is streams once
// it has run for streamDelay: what it writes goes straight to the output. Out of order, a job
// streams only when there is no room to keep more; it then owns the output until it ends. So
// one job can always go on, however little room there is. A job whose output cannot be printed
// before it has ended, as it may be tried again, waits for room: in order until it is its turn, when
// it fails; out of order until all wait, of which the one with the most output fails. Jobs that wait
// for room keep their permit of the limit, and may have all. The job whose turn it is has one, too, or
// has ended: jobs in order start in that order, and keep their permit until they have ended.
type Printer struct {
	o       Format
	console *console.Console
	std     console.Streams
	out     *console.Output
	spool   *spool.Spool

	mu      sync.Mutex
	freed   sync.Cond      // owner has become nil
	jobs    map[int64]*Job // started and not printed, by position
	waiting map[*Job]bool  // wait for room, or have done so
	turn    int64          // position of the job to print next, in order
	owner   *Job           // the one that streams, out of order
	over    bool           // the run ends early: no job waits for room, and none starts to stream
}

// New returns a Printer. It calls failed with the first error of the output.
func New(o Format, std console.Streams, c *console.Console, failed func(error)) *Printer {
	p := &Printer{o: o, console: c, std: std, out: console.NewOutput(std.Stdout, c, failed), jobs: make(map[int64]*Job), waiting: make(map[*Job]bool)}
	p.freed.L = &p.mu
	warn := func(err error) {
		c.Message("no temporary file for output: " + console.Reason(err) + "; jobs wait until the output of others is printed")
	}
	p.spool = spool.New(outputMemory, limit.Files(), "", warn)
	return p
}

// Begin prepares j for an attempt, perhaps the last one.
func (p *Printer) Begin(j *Job, last bool) {
	s := p.newStreams(j)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.jobs[j.Position] = j
	j.Streams, j.last, j.began, j.streamed = s, last, time.Now(), false
	if j.streams() && !p.o.Unordered && !p.o.passes() {
		j.timer = time.AfterFunc(streamDelay, p.look)
	}
}

// Open returns streams that keep output of j, which runs elsewhere.
func (p *Printer) Open(j *Job) Streams {
	s := p.newStreams(j)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.jobs[j.Position] = j
	return s
}

// newStreams returns streams that keep output of j, or pass it on.
func (p *Printer) newStreams(j *Job) Streams {
	stdout, stderr := io.Writer(p.out), io.Writer(errorWriter{p})
	if p.o.Ungroup {
		stdout, stderr = p.std.Stdout, p.std.Stderr
	}
	if p.o.Tag {
		tag := []byte(strings.Join(j.Items, " ") + "\t")
		stdout, stderr = &tagWriter{w: stdout, tag: tag}, &tagWriter{w: stderr, tag: tag}
	}
	if p.o.LineBuffer {
		stdout, stderr = &lineWriter{w: stdout}, &lineWriter{w: stderr}
	}
	var s Streams
	stuck := func() { p.stuck(j, s) }
	s = Streams{&Stream{to: stdout, buffer: p.spool.NewBuffer(stuck)}, &Stream{to: stderr, buffer: p.spool.NewBuffer(stuck)}}
	if p.o.passes() {
		s.print()
	}
	return s
}

// Discard drops output that is not printed.
func (p *Printer) Discard(s Streams) {
	p.mu.Lock() // not in the middle of stuck, which would give up the job for it
	defer p.mu.Unlock()
	s.discard()
}

// Drop drops the output of a failed attempt. It reports false if some was printed already.
func (p *Printer) Drop(j *Job) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if j.streamed && j.written() > 0 {
		return false
	}
	p.forgetLocked(j)
	j.discard()
	return true
}

// forgetLocked removes j.
func (p *Printer) forgetLocked(j *Job) {
	delete(p.jobs, j.Position)
	delete(p.waiting, j)
	p.disownLocked(j)
	if j.timer != nil {
		j.timer.Stop()
	}
}

// disownLocked lets another job stream, out of order, if it was j.
func (p *Printer) disownLocked(j *Job) {
	if p.owner == j {
		p.owner = nil
		p.freed.Broadcast()
	}
}

// stuck is called when there is no room for more of s, which is output of j.
func (p *Printer) stuck(j *Job, s Streams) {
	p.mu.Lock()
	if !p.o.NoWait {
		p.waiting[j] = true
	} else if s.blocked() { // s is perhaps of another attempt than j.Streams
		j.abandon(errNoRoom)
		s.discard()
	}
	p.mu.Unlock()
	p.look()
}

// look lets the job stream that may and should, or gives one up if there will be no room for it.
func (p *Printer) look() {
	p.mu.Lock()
	var s Streams
	if j := p.chooseLocked(); j != nil {
		p.owner, j.streamed, s = j, true, j.Streams
	}
	p.mu.Unlock()
	s.print()
}

// chooseLocked returns the job that streams from now on, nil if there is none, or gives one up.
func (p *Printer) chooseLocked() *Job {
	if !p.o.Unordered && !p.o.NoWait && !p.over {
		switch j := p.jobs[p.turn]; {
		case j == nil:
		case j.streams() && (j.blocked() || time.Since(j.began) >= streamDelay):
			return j
		case !j.streams() && j.blocked():
			j.abandon(errNoRoom)
		}
		return nil
	}
	var most *Job
	for j := range p.waiting {
		switch {
		case !j.blocked():
			delete(p.waiting, j)
		case p.over:
			j.abandon(errNoRoom)
		case p.owner == nil && j.streams():
			return j
		case most == nil || j.written() > most.written():
			most = j
		}
	}
	if p.owner == nil && most != nil && len(p.waiting) == len(p.jobs) { // no job will end, and free some
		most.abandon(errNoRoom)
	}
	return nil
}

// Ended prints the end of the last lines of j, and no longer lets it own the output: all that it
// has written is printed. A call of Finish or Skip must follow, which lets another job stream.
func (p *Printer) Ended(j *Job) {
	if p.o.LineBuffer {
		j.print()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.disownLocked(j)
}

// Abort lets no job wait for room any more, as the run ends early.
func (p *Printer) Abort() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	p.look()
}

// Skip drops j, which has no result.
func (p *Printer) Skip(j *Job) {
	j.discard()
	p.next(j)
}

// Finish prints j, which has ended. Jobs in order come in that order.
func (p *Printer) Finish(j *Job) {
	if j.Interrupted {
		p.Skip(j)
		return
	}
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
	}
	j.print()
	p.next(j)
}

// next lets another job have its turn after j.
func (p *Printer) next(j *Job) {
	p.mu.Lock()
	p.forgetLocked(j)
	p.turn = j.Position + 1
	p.mu.Unlock()
	p.look()
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
		p.Finish(j)
	}
}

// Close writes what is left, and returns the first error of the output.
func (p *Printer) Close() error {
	err := p.out.Flush()
	p.spool.Close()
	return err
}
