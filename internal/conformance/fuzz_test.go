package conformance_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// FuzzPool runs a sequence of operations on a pool and a group on it, in a bubble, and
// compares every answer and every count with a sequential model. Two bytes are the limit
// and the lengths of the queues, or that both have one queue; each operation is a byte,
// followed by its argument. A deadlock is a failure.
func FuzzPool(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 1, 1, 2, 2, 3, 9})                                 // limit 1, no queue
	f.Add([]byte{1, 5, 0, 3, 0, 3, 0, 3, 0, 3, 0, 3, 6, 2, 1, 1, 10})           // a full queue, a larger and a smaller limit
	f.Add([]byte{2, 9, 0, 5, 3, 5, 3, 5, 3, 5, 3, 5, 5, 0, 9, 7, 3, 1})         // the group is cancelled with tasks in its queue
	f.Add([]byte{0, 10, 2, 4, 2, 4, 4, 4, 4, 4, 2, 1, 9, 30, 0, 1})             // submitters wait
	f.Add([]byte{1, 8, 6, 3, 7, 3, 0, 1, 9, 2, 0, 2, 9, 9})                     // panics and exits
	f.Add([]byte{0, 2, 8, 2, 8, 2, 0, 1, 9, 1, 9, 9})                           // a task that waits for others
	f.Add([]byte{1, 3, 0, 7, 0, 7, 0, 7, 2, 7, 3, 7, 10, 2, 0, 1, 2, 1})        // closed under load
	f.Add([]byte{1, 15, 0, 7, 0, 7, 0, 7, 2, 7, 3, 7, 4, 7, 11, 4, 0, 1})       // shut down before it is done
	f.Add([]byte{3, 3, 12, 2, 12, 1, 9, 1, 12, 3, 5, 1, 9, 3, 5, 2, 11, 60})    // nested on the same pool
	f.Add([]byte{0, 18, 2, 4, 4, 4, 4, 4, 2, 4, 4, 1, 0, 1, 9, 3, 1, 1, 9, 9})  // one queue: submitters of both wait
	f.Add([]byte{1, 19, 4, 7, 4, 7, 4, 7, 4, 7, 4, 7, 2, 3, 2, 3, 10, 0, 9, 2}) // one queue: the group leaves its slots
	f.Add([]byte{1, 16, 4, 3, 4, 3, 2, 3, 4, 3, 3, 1, 0, 1, 12, 3, 9, 4})       // one queue, of no tasks
	f.Fuzz(func(t *testing.T, ops []byte) {
		if len(ops) < 2 || len(ops) > 120 {
			t.Skip()
		}
		synctest.Test(t, func(t *testing.T) {
			groupRoom := int(ops[1] / 4 % 4)
			if ops[1]/16%2 == 1 {
				groupRoom = -1
			}
			z := newPoolFuzz(t, int(ops[0]%4)+1, int(ops[1]%4), groupRoom)
			for ops = ops[2:]; len(ops) > 1 && !z.closed; ops = ops[2:] {
				z.step(ops[0]%13, int(ops[1]))
			}
			z.finish()
		})
	})
}

// poolFuzz is one run: the pool and the group, and the model of both.
type poolFuzz struct {
	t      *testing.T
	pool   *stint.Pool
	group  *stint.Group
	cancel context.CancelFunc
	model  *poolModel
	closed bool // no operation after this

	submitters sync.WaitGroup
	panics     atomic.Int32
	atWork     gauge
	largest    int

	mu  sync.Mutex
	ran []int
}

// newPoolFuzz makes a pool and a group with queues so long. A group with -1 has that of the
// pool.
func newPoolFuzz(t *testing.T, limit, room, groupRoom int) *poolFuzz {
	z := &poolFuzz{t: t, largest: limit, model: &poolModel{limit: limit, fails: map[int]bool{}}}
	z.pool = stint.NewPool(stint.Limit(limit), stint.Queue(room), stint.OnPanic(func(*stint.PanicError) { z.panics.Add(1) }))
	ctx, cancel := context.WithCancel(context.Background())
	z.cancel = cancel
	opts := []stint.Option{z.pool, stint.KeepGoing()}
	z.model.direct.room, z.model.group.room = room, groupRoom
	z.model.oneRoom = groupRoom < 0
	if z.model.oneRoom {
		z.model.group.room = room
	} else {
		opts = append(opts, stint.Queue(groupRoom))
	}
	z.group = stint.NewGroup(ctx, opts...)
	return z
}

// step is one operation on both, and a look at the counts.
func (z *poolFuzz) step(op byte, arg int) {
	m := z.model
	seconds := arg%8 + 1
	switch op {
	case 0, 1: // TryGo
		id := m.task(seconds)
		want := m.try(&m.direct, id)
		z.same("Pool.TryGo", z.pool.TryGo(z.direct(id, ends)), want)
	case 2: // Go, on a goroutine of its own: it may have to wait
		z.submit(&m.direct, m.task(seconds), ends)
	case 3: // TryGo of the group
		id := m.task(seconds)
		want := m.try(&m.group, id)
		z.same("Group.TryGo", z.group.TryGo(z.body(id, ends)), want)
	case 4:
		z.submit(&m.group, m.task(seconds), ends)
	case 5: // SetLimit
		n := arg % 6
		z.largest = max(z.largest, n)
		m.limit = n
		m.dispatch()
		z.pool.SetLimit(n)
	case 6:
		id := m.task(seconds)
		m.fails[id] = true
		z.submit(&m.direct, id, func(context.Context) { panic("fuzz") })
		m.panics++
	case 7:
		id := m.task(seconds)
		m.fails[id] = true
		z.submit(&m.group, id, func(context.Context) { runtime.Goexit() })
	case 8: // a task that waits for a group under another limit
		z.submit(&m.direct, m.task(seconds), func(ctx context.Context) {
			g := stint.NewGroup(ctx, stint.Limit(1))
			g.Go(func(context.Context) error { return nil })
			if err := g.Wait(); err != nil && ctx.Err() == nil {
				z.t.Errorf("Wait: %v", err)
			}
		})
	case 9: // time passes
		m.advance(arg % 32)
		time.Sleep(time.Duration(arg%32) * time.Second)
	case 10: // the group's context ends
		m.stop(&m.group)
		z.cancel()
	case 11:
		z.shutdown(arg % 32)
		return
	case 12: // a task that waits for others on the same pool: only the bounds are known
		m.loose = true
		id := m.task(seconds)
		m.offer(&m.direct, id)
		_ = z.pool.TryGo(z.direct(id, func(ctx context.Context) { z.nested(ctx, seconds) }))
	}
	synctest.Wait()
	z.look()
}

func ends(context.Context) {}

// submit starts a task where it may have to wait for room.
func (z *poolFuzz) submit(s *sourceModel, id int, end func(context.Context)) {
	m := z.model
	if m.refuses(s) {
		m.refused++
	} else if !m.offer(s, id) {
		s.blocked = append(s.blocked, id)
		m.enqueue(s)
		m.dispatch()
	}
	start := func() bool { return z.pool.Go(z.direct(id, end)) == nil }
	if s == &m.group {
		start = func() bool { return z.group.Go(z.body(id, end)) }
	}
	z.submitters.Go(func() {
		if !start() && !m.loose {
			z.mu.Lock()
			defer z.mu.Unlock()
			z.ran = append(z.ran, -1) // the model counts those that are refused
		}
	})
	synctest.Wait()
}

// body is the function of a task: it works as long as the model says.
func (z *poolFuzz) body(id int, end func(context.Context)) func(context.Context) error {
	d := time.Duration(z.model.seconds[id]) * time.Second
	return func(ctx context.Context) error {
		z.mu.Lock()
		z.ran = append(z.ran, id)
		z.mu.Unlock()
		z.atWork.Hold(d)
		end(ctx)
		return nil
	}
}

func (z *poolFuzz) direct(id int, end func(context.Context)) func(context.Context) {
	f := z.body(id, end)
	return func(ctx context.Context) { f(ctx) }
}

// nested waits for a loop, a group and a sequence on the pool that it runs on.
func (z *poolFuzz) nested(ctx context.Context, n int) {
	err := stint.Range(ctx, n, func(ctx context.Context, i int) error {
		z.atWork.Hold(time.Second)
		opts := []stint.Option{z.pool, stint.Queue(i % 2)}
		g := stint.NewGroup(ctx, opts[:1+i/2%2]...)
		for range n % 4 {
			g.Go(func(context.Context) error { z.atWork.Hold(time.Second); return nil })
		}
		return g.Wait()
	}, z.pool)
	for _, e := range stint.MapSeq(ctx, count(n), func(context.Context, int) (int, error) { z.atWork.Hold(time.Second); return 0, nil }, z.pool) {
		err = errors.Join(err, e)
	}
	if err != nil && !errors.Is(err, stint.ErrClosed) && ctx.Err() == nil {
		z.t.Errorf("nested: %v", err)
	}
}

func (z *poolFuzz) same(what string, got, want bool) {
	z.t.Helper()
	if got != want && !z.model.loose {
		z.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// look compares the counts.
func (z *poolFuzz) look() {
	z.t.Helper()
	m, st := z.model, z.pool.Stats()
	if top := z.atWork.Max(); top > z.largest {
		z.t.Errorf("%d at work, the largest limit was %d", top, z.largest)
	}
	if m.loose {
		return
	}
	want := stint.PoolStats{
		Limit: m.limit, Running: len(m.ends), Queued: len(m.direct.queue) + len(m.group.queue),
		Waiting:   len(m.direct.blocked) + len(m.group.blocked),
		Completed: uint64(m.completed), Dropped: uint64(m.dropped), Refused: uint64(m.full), Failed: uint64(m.failed),
		Workers: st.Workers, Idle: st.Idle, // how long they stay is not in the model
	}
	if st != want {
		z.t.Errorf("the pool has %+v, want %+v", st, want)
	}
	if st.Workers < st.Running+st.Idle {
		z.t.Errorf("%d workers for %d tasks beside %d idle", st.Workers, st.Running, st.Idle)
	}
}

// shutdown ends the pool with a deadline between two seconds, when no task ends.
func (z *poolFuzz) shutdown(seconds int) {
	z.closed = true
	m := z.model
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(seconds)*time.Second+time.Second/2)
	defer cancel()
	m.close()
	m.advance(seconds)
	left := len(m.direct.queue) + len(m.group.queue)
	m.stop(&m.direct)
	m.stop(&m.group)
	m.advance(1 << 20)
	abandoned, err := z.pool.Shutdown(ctx)
	if !m.loose && abandoned != left {
		z.t.Errorf("Shutdown abandoned %d, want %d", abandoned, left)
	}
	if (err != nil) != (abandoned > 0) && !m.loose && left > 0 {
		z.t.Errorf("Shutdown abandoned %d: %v", abandoned, err)
	}
}

// finish ends everything, and checks which tasks ran.
func (z *poolFuzz) finish() {
	m := z.model
	if !z.closed {
		z.step(5, 1) // after a pause
		m.close()
		m.advance(1 << 20)
		z.pool.Close()
	}
	z.submitters.Wait()
	z.group.Wait()
	z.cancel()
	z.look()
	if st := z.pool.Stats(); st.Running+st.Queued+st.Waiting+st.Workers != 0 {
		z.t.Errorf("a closed pool has %+v", st)
	}
	if m.loose {
		return
	}
	for range m.refused {
		m.ran = append(m.ran, -1)
	}
	slices.Sort(z.ran)
	slices.Sort(m.ran)
	if !slices.Equal(z.ran, m.ran) {
		z.t.Errorf("ran %v, want %v (-1 was refused)", z.ran, m.ran)
	}
	if int(z.panics.Load()) > m.panics {
		z.t.Errorf("%d panics of %d", z.panics.Load(), m.panics)
	}
}

// poolModel models a pool with one group on it by arithmetic: until when tasks run, their
// order in the queue, and which submitters wait for room.
type poolModel struct {
	limit         int
	clock         int   // seconds
	seconds       []int // of each task
	ends          []int // when those that run will end
	running       []int // their numbers
	fails         map[int]bool
	direct, group sourceModel
	oneRoom       bool           // of both
	ready         []*sourceModel // with anything to take, served in turn
	closed        bool
	loose         bool // the model knows no more than the bounds

	completed, dropped, refused, panics int
	full, failed                        int
	ran                                 []int
}

type sourceModel struct {
	room           int
	queue, blocked []int
	over           bool
}

// task makes a task that works so long and returns its number.
func (m *poolModel) task(seconds int) int {
	m.seconds = append(m.seconds, seconds)
	return len(m.seconds) - 1
}

func (m *poolModel) refuses(s *sourceModel) bool { return s.over || m.closed }

// offer reports whether a task is accepted that does not wait.
func (m *poolModel) offer(s *sourceModel, id int) bool {
	free := len(m.ends) < m.limit
	if m.refuses(s) || m.first(s) != nil || m.queued(s) >= s.room && !free {
		return false
	}
	s.queue = append(s.queue, id)
	m.enqueue(s)
	m.dispatch()
	return true
}

// try is offer for a TryGo, whose refusals for want of room are counted.
func (m *poolModel) try(s *sourceModel, id int) bool {
	ok := m.offer(s, id)
	if !ok && !m.refuses(s) {
		m.full++
	}
	return ok
}

// queued is how many tasks take slots of the room of s.
func (m *poolModel) queued(s *sourceModel) int {
	if m.oneRoom {
		return len(m.direct.queue) + len(m.group.queue)
	}
	return len(s.queue)
}

// first is the source whose submitter has waited longest for the room of s, or nil.
func (m *poolModel) first(s *sourceModel) *sourceModel {
	switch d, g := &m.direct, &m.group; {
	case !m.oneRoom || len(d.blocked)+len(g.blocked) == len(s.blocked):
		if len(s.blocked) == 0 {
			return nil
		}
		return s
	case len(g.blocked) == 0 || len(d.blocked) > 0 && d.blocked[0] < g.blocked[0]: // numbers are in the order of coming
		return d
	default:
		return g
	}
}

// admit lets submitters in while the room of s has slots.
func (m *poolModel) admit(s *sourceModel) {
	for f := m.first(s); f != nil && m.queued(s) < s.room; f = m.first(s) {
		f.admit()
	}
}

// enqueue puts s behind the sources that are served in turn.
func (m *poolModel) enqueue(s *sourceModel) {
	if !slices.Contains(m.ready, s) {
		m.ready = append(m.ready, s)
	}
}

// dispatch starts tasks up to the limit.
func (m *poolModel) dispatch() {
	for len(m.ends) < m.limit && len(m.ready) > 0 {
		s := m.ready[0]
		m.ready = m.ready[1:]
		if len(s.queue) == 0 {
			s.admit()
		}
		id := s.queue[0]
		s.queue = s.queue[1:]
		m.admit(s)
		m.ends = append(m.ends, m.clock+m.seconds[id])
		m.running = append(m.running, id)
		m.ran = append(m.ran, id)
		if len(s.queue)+len(s.blocked) > 0 {
			m.ready = append(m.ready, s)
		}
	}
}

func (s *sourceModel) admit() {
	s.queue = append(s.queue, s.blocked[0])
	s.blocked = s.blocked[1:]
}

// advance lets time pass, until nothing is left to do at the latest.
func (m *poolModel) advance(seconds int) {
	until := m.clock + seconds
	for len(m.ends) > 0 && slices.Min(m.ends) <= until {
		i := slices.Index(m.ends, slices.Min(m.ends))
		m.clock = m.ends[i]
		if m.fails[m.running[i]] {
			m.failed++
		}
		m.ends, m.running = slices.Delete(m.ends, i, i+1), slices.Delete(m.running, i, i+1)
		m.completed++
		m.dispatch()
	}
	m.clock = until
}

// stop drops the queued tasks of s, and refuses the waiting submitters.
func (m *poolModel) stop(s *sourceModel) {
	s.over = true
	m.dropped += len(s.queue)
	s.queue = nil
	m.refuse(s)
	m.admit(s)
}

func (m *poolModel) refuse(s *sourceModel) {
	m.refused += len(s.blocked)
	s.blocked = nil
	if len(s.queue) == 0 {
		m.ready = slices.DeleteFunc(m.ready, func(r *sourceModel) bool { return r == s })
	}
}

func (m *poolModel) close() {
	m.closed = true
	m.refuse(&m.direct)
	m.refuse(&m.group)
}
