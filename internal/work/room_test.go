package work

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/internal/limit"
)

// shared runs a test of sources that share a room.
func shared(t *testing.T, n, room, sources int, f func(t *testing.T, e *Engine, ss []*Source)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e, ss := sharing(limit.New(n), room, sources, time.Second)
		f(t, e, ss)
		end(t, e)
	})
}

// The queued tasks of all sources count, and those of a source with its own room do not.
func TestSharedRoomIsOne(t *testing.T) {
	for _, room := range []int{0, 1, 2, 70} {
		shared(t, 1, room, 3, func(t *testing.T, e *Engine, ss []*Source) {
			hold := make(chan struct{})
			for i := range 1 + room {
				if a := ss[i%3].Offer(does(func() { <-hold }), nil); a != Accepted {
					t.Fatalf("room %d: task %d: %v", room, i, a)
				}
				synctest.Wait()
			}
			for i, s := range ss {
				if a := s.Offer(nothing, nil); a != Full {
					t.Errorf("room %d: source %d: %v", room, i, a)
				}
			}
			apart, _ := source(e, 1)
			if a := apart.Offer(nothing, nil); a != Accepted {
				t.Errorf("room %d: a source with its own room: %v", room, a)
			}
			close(hold)
			for _, s := range append(ss, apart) {
				s.Wait()
			}
		})
	}
}

// A source whose tasks all wait for a slot has its turn nevertheless.
func TestFullRoomLeavesTurns(t *testing.T) {
	shared(t, 1, 10, 2, func(t *testing.T, e *Engine, ss []*Source) {
		step := make(chan struct{})
		order := ""
		for range 11 {
			ss[0].Offer(does(func() { order += "a"; <-step }), nil)
			synctest.Wait()
		}
		for range 2 {
			go ss[0].Submit(nil, does(func() { order += "a"; <-step }), nil)
			synctest.Wait()
		}
		for range 2 {
			go ss[1].Submit(nil, does(func() { order += "b"; <-step }), nil)
			synctest.Wait()
		}
		for range 15 {
			step <- struct{}{}
			synctest.Wait()
		}
		if order != "aababaaaaaaaaaa" {
			t.Errorf("ran %s", order)
		}
	})
}

// Slots that a stopped source leaves go to the submitters of the others.
func TestStopAdmitsSubmittersOfOthers(t *testing.T) {
	for _, room := range []int{2, 64} {
		shared(t, 1, room, 3, func(t *testing.T, e *Engine, ss []*Source) {
			hold := make(chan struct{})
			ss[2].Offer(does(func() { <-hold }), nil)
			synctest.Wait()
			for range room {
				ss[0].Offer(does(func() { t.Error("ran") }), nil)
			}
			var in atomic.Int32
			for range 2 {
				go func() { ss[1].Submit(nil, nothing, nil); in.Add(1) }()
			}
			synctest.Wait()
			if in.Load() != 0 {
				t.Errorf("room %d: %d are let in", room, in.Load())
			}
			ss[0].Stop()
			synctest.Wait()
			if in.Load() != 2 {
				t.Errorf("room %d: %d of 2 are let in", room, in.Load())
			}
			close(hold)
		})
	}
}

// While workers are on their way, a shared room has more tasks than slots. They take those
// before others: once they have come, it is not.
func TestRoomIsExactWhenWorkersHaveCome(t *testing.T) {
	const n, room = 4, 1
	shared(t, n, room, 2, func(t *testing.T, e *Engine, ss []*Source) {
		apart, _ := source(e, 9)
		hold := make(chan struct{})
		held := does(func() { <-hold })
		accepted := 0
		for range 2 * (n + room) {
			if ss[0].Offer(held, nil) == Accepted { // without synctest.Wait: no worker has come
				accepted++
			}
		}
		if accepted != n+room {
			t.Errorf("%d are accepted, want %d", accepted, n+room)
		}
		go ss[1].Submit(nil, held, nil)
		apart.Offer(held, nil)
		synctest.Wait()
		if c := e.Counts(); c.Running != n || e.lasting.room.queued != room || c.Queued != room+1 || c.Blocked != 1 {
			t.Errorf("%+v, and %d in the room", c, e.lasting.room.queued)
		}
		close(hold)
	})
}

// A submitter whose source is not served, because its priority is low, is let in like
// another one, though tasks of the source that is served are claimed without the lock.
func TestSubmitterBesideClaimsIsLetIn(t *testing.T) {
	for _, claimed := range []int{0, 1, 5, 13, 20} { // so that the open segment has some tasks left, and others
		shared(t, 1, 64, 1, func(t *testing.T, e *Engine, ss []*Source) {
			low := e.NewSource(SourceConfig{
				Context: context.Background(), Room: SharedRoom, Runner: new(record), Shared: true, Parent: (*limit.Scope)(nil).Call(nil, true),
			})
			step := make(chan struct{})
			waits := does(func() { <-step })
			for range 1 + 64 {
				ss[0].Offer(waits, nil)
				synctest.Wait()
			}
			for range claimed {
				step <- struct{}{}
				synctest.Wait()
				ss[0].Offer(waits, nil)
			}
			in := 0
			go func() {
				for range 3 {
					low.Submit(nil, nothing, nil)
					in++
				}
			}()
			synctest.Wait()
			for i := range 3 {
				if in != i {
					t.Errorf("after %d claims: %d are let in, want %d", claimed, in, i)
				}
				time.Sleep(maxBatchWait)
				step <- struct{}{}
				synctest.Wait()
			}
			if a := ss[0].Offer(nothing, nil); a != Full {
				t.Errorf("after %d claims: a newcomer gets the last slot: %v", claimed, a)
			}
			close(step)
		})
	}
}

// roomModel is a room in plain words: what runs, what is queued and who waits after each step.
type roomModel struct {
	limit, size int
	running     []int   // tasks
	queues      [][]int // of the sources
	blocked     [][2]int
	turns       []int // sources with anything to do
	stopped     []bool
}

func (m *roomModel) queued() (n int) {
	for _, q := range m.queues {
		n += len(q)
	}
	return n
}

func (m *roomModel) ready(source int) {
	if !slices.Contains(m.turns, source) {
		m.turns = append(m.turns, source)
	}
}

// submit returns Accepted, Full or Over. A submitter that waits is told Full.
func (m *roomModel) submit(source, id int, wait bool) Answer {
	switch {
	case m.stopped[source]:
		return Over
	case len(m.blocked) == 0 && (m.queued() < m.size || len(m.running) < m.limit):
		m.queues[source] = append(m.queues[source], id)
		m.ready(source)
	case wait:
		m.blocked = append(m.blocked, [2]int{source, id})
		m.ready(source)
		return Full
	default:
		return Full
	}
	return Accepted
}

func (m *roomModel) admit() {
	for len(m.blocked) > 0 && m.queued() < m.size {
		b := m.blocked[0]
		m.blocked = m.blocked[1:]
		m.queues[b[0]] = append(m.queues[b[0]], b[1])
	}
}

func (m *roomModel) isBlocked(source int) int {
	return slices.IndexFunc(m.blocked, func(b [2]int) bool { return b[0] == source })
}

// settle starts tasks while permits are free.
func (m *roomModel) settle() {
	m.turns = slices.DeleteFunc(m.turns, func(s int) bool { return len(m.queues[s]) == 0 && m.isBlocked(s) < 0 })
	for len(m.running) < m.limit && len(m.turns) > 0 {
		s := m.turns[0]
		m.turns = m.turns[1:]
		if i := m.isBlocked(s); len(m.queues[s]) == 0 {
			m.queues[s] = []int{m.blocked[i][1]}
			m.blocked = slices.Delete(m.blocked, i, i+1)
		}
		m.running = append(m.running, m.queues[s][0])
		m.queues[s] = m.queues[s][1:]
		m.admit()
		if len(m.queues[s]) > 0 || m.isBlocked(s) >= 0 {
			m.turns = append(m.turns, s)
		}
	}
}

// Random steps leave the engine as the model says, each of them.
func TestRoomModel(t *testing.T) {
	const sources = 4
	for round := range uint64(300) {
		s := *seed + round
		r := rand.New(rand.NewPCG(s, 11))
		m := &roomModel{limit: 1 + r.IntN(3), size: r.IntN(4), queues: make([][]int, sources), stopped: make([]bool, sources)}
		lim := limit.New(m.limit)
		synctest.Test(t, func(t *testing.T) {
			e, ss := sharing(lim, m.size, sources, time.Second)
			var mu sync.Mutex
			var running []int // in the order of starting
			ends, gone := map[int]chan struct{}{}, map[int]chan struct{}{}
			for id := range 120 {
				end := make(chan struct{})
				ends[id], gone[id] = end, make(chan struct{})
				task := does(func() {
					mu.Lock()
					running = append(running, id)
					mu.Unlock()
					<-end
				})
				source := r.IntN(sources)
				switch op := r.IntN(20); {
				case op < 5:
					if a, want := ss[source].Offer(task, nil), m.submit(source, id, false); a != want {
						t.Fatalf("-stint.seed=%d: step %d: Offer: %v, want %v", s, id, a, want)
					}
				case op < 11:
					m.submit(source, id, true)
					go ss[source].Submit(gone[id], task, nil)
				case op < 17 && len(m.running) > 0:
					i := r.IntN(len(m.running))
					close(ends[m.running[i]])
					m.running = slices.Delete(m.running, i, i+1)
				case op == 17 && len(m.blocked) > 0:
					i := r.IntN(len(m.blocked))
					close(gone[m.blocked[i][1]])
					m.blocked = slices.Delete(m.blocked, i, i+1)
				case op == 18:
					m.limit = 1 + r.IntN(3)
					lim.Set(m.limit)
				case op == 19 && r.IntN(3) == 0 && source != 0:
					ss[source].Stop()
					m.stopped[source], m.queues[source] = true, nil
					m.blocked = slices.DeleteFunc(m.blocked, func(b [2]int) bool { return b[0] == source })
					m.admit()
				}
				synctest.Wait()
				m.settle()
				for _, id := range m.running {
					if !slices.Contains(running, id) {
						t.Fatalf("-stint.seed=%d: step %d: %d does not run; started %v, want %v", s, id, id, running, m.running)
					}
				}
				got, want := [4]int{e.Counts().Running, e.lasting.room.queued, e.Counts().Blocked, e.lasting.room.blocked.Len()},
					[4]int{len(m.running), m.queued(), len(m.blocked), len(m.blocked)}
				if got != want || e.lasting.room.queued > m.size {
					t.Fatalf("-stint.seed=%d: step %d: %v, want %v", s, id, got, want)
				}
			}
			lim.Set(200)
			for _, c := range ends {
				select {
				case <-c:
				default:
					close(c)
				}
			}
			synctest.Wait()
			end(t, e)
		})
		if t.Failed() {
			t.Fatalf("-stint.seed=%d", s)
		}
	}
}
