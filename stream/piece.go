package stream

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// A piece is some records that one task takes.
type piece[T, R any] struct {
	at    uint64 // number of its first record
	in    []T
	out   []R // results, of the first n records
	given int // of them, in another piece
	n     int
	err   error // of the record after those
	done  bool
	next  *piece[T, R]

	wide    bool   // of several records when its worker began: the clock looks after it
	step    int    // records claimed at once
	claimed uint32 // atomic: records that its worker has begun or will begin; sealed: it will begin no more
	began   time.Time
	link    *limit.Link // of its task
	from    *limit.Link // that it is submitted with
	old     bool        // a tick has passed since
	watched int         // place in running, or -1
}

// pieceTime is how long the calls for one piece should take: much longer than handing it
// around, and no time for those who wait.
const pieceTime = 50 * time.Microsecond

// cut appends the pieces that items become. at is the number of the first item, from the
// link of the task that they are submitted for. It is called with mu held.
func (m *parMap[T, R]) cut(pieces []*piece[T, R], items []T, at uint64, from *limit.Link) []*piece[T, R] {
	k := m.step()
	for len(items) > 0 {
		p, n := m.fresh(), min(k, len(items))
		p.at, p.in, p.from = at, append(p.in, items[:n]...), from
		pieces = append(pieces, p)
		items, at = items[n:], at+uint64(n)
	}
	return pieces
}

// fresh returns an empty piece. It is called with mu held.
func (m *parMap[T, R]) fresh() *piece[T, R] {
	last := len(m.spare) - 1
	if last < 0 {
		return &piece[T, R]{watched: -1}
	}
	p := m.spare[last]
	m.spare = m.spare[:last]
	*p = piece[T, R]{in: p.in[:0], out: p.out[:0], watched: -1}
	return p
}

// submit puts pieces into the queue of tasks. Those that a closed pool does not take
// are failed.
func (m *parMap[T, R]) submit(pieces []*piece[T, R]) {
	for _, p := range pieces {
		if m.place.Source.Offer(p, p.from) == work.Over && m.place.Closed() {
			m.fail(p, stint.ErrClosed)
		}
	}
}

// Run calls f for the records of one piece. It claims those that it begins: the clock may
// take the rest away meanwhile.
func (m *parMap[T, R]) Run(ctx context.Context, t work.Task) error {
	p := t.Func.(*piece[T, R])
	if p.at > m.last.Load() {
		m.finish(p)
		return nil
	}
	in := p.in
	if cap(p.out) < len(in) {
		p.out = make([]R, len(in))
	}
	out, began, up := p.out[:len(in)], time.Now(), m.up
	p.wide, p.step = len(in) > 1, m.claim()
	if p.wide {
		m.watch(p, limit.From(ctx), began)
	}
	for i := 0; i < len(in); {
		to := min(i+p.step, len(in))
		if p.wide && !atomic.CompareAndSwapUint32(&p.claimed, uint32(i), uint32(to)) {
			in = in[:i] // the rest has been taken away
			break
		}
		if ctx.Err() != nil {
			return nil // nobody wants the rest
		}
		if p.at > m.last.Load() {
			break
		}
		for ; i < to; i++ {
			r, err := m.f(ctx, in[i])
			if err != nil {
				return err
			}
			out[i] = r
			p.n = i + 1
			if atomic.LoadUint32(&up.halt)&over != 0 && ctx.Err() != nil {
				return nil
			}
		}
	}
	took, wide := time.Since(began), p.wide
	m.learn(took, len(in))
	m.finish(p) // it is the consumer's from now on
	if wide && took >= pieceTime/4 && m.asleep.Load() {
		runtime.Gosched() // it is awake now, and perhaps short calls keep all processors busy
	}
	return nil
}

// claim returns how many records are claimed at once: as Each does, those that take less
// than a microsecond in all, or one where the limit is meant for calls that wait.
func (m *parMap[T, R]) claim() int {
	if m.alone {
		return 1
	}
	return max(m.step()/int(pieceTime/time.Microsecond), 1)
}

// watch makes the clock look after a piece that has begun.
func (m *parMap[T, R]) watch(p *piece[T, R], link *limit.Link, began time.Time) {
	m.mu.Lock()
	p.link, p.began, p.old, p.watched = link, began, false, len(m.running)
	m.running = append(m.running, p)
	m.watching.Store(true)
	m.mu.Unlock()
	m.g.run.clock.wake()
}

// unwatch ends that. It is called with mu held.
func (m *parMap[T, R]) unwatch(p *piece[T, R]) {
	last := len(m.running) - 1
	m.running[p.watched], m.running[last].watched = m.running[last], p.watched
	m.running[last] = nil
	m.running, p.watched = m.running[:last], -1
	if last == 0 {
		m.watching.Store(false)
	}
}

// tick takes away what the pieces that began before the last tick have not begun: they
// take much longer than was thought.
func (m *parMap[T, R]) tick() bool {
	if !m.hot() {
		return false
	}
	var rest []*piece[T, R]
	m.mu.Lock()
	for i := len(m.running) - 1; i >= 0; i-- { // the last one takes the place of one that goes
		if p := m.running[i]; p.old {
			rest = append(rest, m.split(p)...)
		} else {
			p.old = true
		}
	}
	m.mu.Unlock()
	m.submit(rest)
	return m.hot()
}

func (m *parMap[T, R]) hot() bool { return m.watching.Load() }

// split makes a piece of what is finished of p, which is done, and new ones of what has
// not been claimed. It is called with mu held: until it returns p is not done.
func (m *parMap[T, R]) split(p *piece[T, R]) (rest []*piece[T, R]) {
	m.unwatch(p)
	claimed := int(atomic.LoadUint32(&p.claimed))
	if m.place.Engine.Limiter().Bound() > 1 { // else nobody could take the rest, and the order stays that of the records
		claimed = int(atomic.SwapUint32(&p.claimed, sealed))
		rest = m.rest(p, claimed)
	}
	finished := m.finished(p, claimed-p.step)
	m.place.Source.Update(func() {
		m.link(p, rest...)
		if finished != nil {
			m.open++
			m.insert(m.before(p), finished)
		}
	})
	return rest
}

// rest makes pieces of what p has behind its first n records.
func (m *parMap[T, R]) rest(p *piece[T, R], n int) []*piece[T, R] {
	if n == len(p.in) {
		return nil
	}
	m.learn(time.Since(p.began), n)
	if tuner := m.place.Engine.Tuner(); tuner != nil && !m.Brief() {
		tuner.Press() // nobody else may do so before a call has ended
	}
	rest := m.cut(nil, p.in[n:], p.at+uint64(n), p.link) // p runs: a closed pool takes them
	if m.pointers {
		clear(p.in[n:])
	}
	p.in = p.in[:n]
	return rest
}

// finished makes a piece of the first n records of p.
func (m *parMap[T, R]) finished(p *piece[T, R], n int) *piece[T, R] {
	if n <= 0 {
		return nil
	}
	q := m.fresh()
	q.at, q.in, q.out, q.n, q.done = p.at, append(q.in, p.in[:n]...), append(q.out[:0], p.out[:n]...), n, true
	p.given = n
	return q
}

// Brief reports whether pieces are of several records.
func (m *parMap[T, R]) Brief() bool { return m.step() > 1 }

// learn takes in how long n records took, or none yet. What is dear for once is so for a
// while.
func (m *parMap[T, R]) learn(took time.Duration, n int) {
	cost := int64(min(took, time.Hour))*1000/int64(max(n, 1)) + 1 // more would not fit, and makes no difference
	if old := m.cost.Load(); old > 0 {
		cost = max(cost, old/2)
	}
	m.cost.Store(cost)
}

// finish makes p ready to be taken.
func (m *parMap[T, R]) finish(p *piece[T, R]) {
	if p.wide {
		m.mu.Lock()
		if p.watched >= 0 {
			m.unwatch(p)
		}
		m.mu.Unlock()
	}
	m.place.Source.Update(func() {
		p.done = true
		if m.unordered {
			m.insert(m.tail, p)
		}
	})
}

// Failed ends the run after a panic, and the stream at the record of p otherwise.
func (m *parMap[T, R]) Failed(t work.Task, o task.Outcome) {
	if o.Panic != nil {
		m.g.run.broken(m.calls, o)
		return
	}
	err := o.Err
	if o.Goexit {
		err = stint.ErrGoexit
	}
	m.g.run.failed(m.calls, err)
	p := t.Func.(*piece[T, R])
	if m.overload != nil && !m.tell(p, err) {
		return
	}
	m.fail(p, err)
}

// fail makes err that of the record of p that has no result.
func (m *parMap[T, R]) fail(p *piece[T, R], err error) {
	p.err = err
	last := p.at
	if m.unordered {
		last = 0
	}
	for {
		old := m.last.Load()
		if old <= last || m.last.CompareAndSwap(old, last) {
			break
		}
	}
	m.finish(p)
}

// tell asks whether err means that too many run. A panic or a Goexit of the option's
// function is one of f, and ends p: tell reports false then, if it returns.
func (m *parMap[T, R]) tell(p *piece[T, R], err error) (ok bool) {
	defer func() {
		if !ok {
			m.fail(p, m.g.run.broken(m.calls, task.Unreturned(recover())))
		}
	}()
	if m.overload(err) {
		m.place.Engine.Tuner().Overload()
	}
	return true
}

// Abandoned takes in that the pool has dropped what is queued.
func (m *parMap[T, R]) Abandoned() { m.shut.Store(true) }
