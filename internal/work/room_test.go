package work

import (
	"math/rand/v2"
	"slices"
	"sync"
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

// modelled is an engine beside its model.
type modelled struct {
	*roomModel
	r       *rand.Rand
	lim     *limit.Limiter
	engine  *Engine
	sources []*Source
	ends    map[int]chan struct{} // close to end the task
	gone    map[int]chan struct{} // close to make the submitter give up

	mu      sync.Mutex
	started []int // tasks
}

// task returns the task id, which runs until its end is closed.
func (m *modelled) task(id int) any {
	end := make(chan struct{})
	m.ends[id], m.gone[id] = end, make(chan struct{})
	return does(func() {
		m.mu.Lock()
		m.started = append(m.started, id)
		m.mu.Unlock()
		<-end
	})
}

// step does the same to the engine and the model.
func (m *modelled) step(t *testing.T, id int) {
	task, source := m.task(id), m.r.IntN(len(m.sources))
	switch op := m.r.IntN(20); {
	case op < 5:
		if a, want := m.sources[source].Offer(task, nil), m.submit(source, id, false); a != want {
			t.Fatalf("step %d: Offer: %v, want %v", id, a, want)
		}
	case op < 11:
		m.submit(source, id, true)
		go m.sources[source].Submit(m.gone[id], task, nil)
	case op < 17 && len(m.running) > 0:
		i := m.r.IntN(len(m.running))
		close(m.ends[m.running[i]])
		m.running = slices.Delete(m.running, i, i+1)
	case op == 17 && len(m.blocked) > 0:
		i := m.r.IntN(len(m.blocked))
		close(m.gone[m.blocked[i][1]])
		m.blocked = slices.Delete(m.blocked, i, i+1)
	case op == 18:
		m.limit = 1 + m.r.IntN(3)
		m.lim.Set(m.limit)
	case op == 19 && m.r.IntN(3) == 0 && source != 0:
		m.sources[source].Stop()
		m.stopped[source], m.queues[source] = true, nil
		m.blocked = slices.DeleteFunc(m.blocked, func(b [2]int) bool { return b[0] == source })
		m.admit()
	}
	synctest.Wait()
	m.settle()
}

// end ends the task id, unless it has ended.
func (m *modelled) end(id int) {
	select {
	case <-m.ends[id]:
	default:
		close(m.ends[id])
	}
}

// compare compares the engine with the model.
func (m *modelled) compare(t *testing.T, id int) {
	for _, task := range m.running {
		if !slices.Contains(m.started, task) {
			t.Fatalf("step %d: %d does not run; started %v, want %v", id, task, m.started, m.running)
		}
	}
	c, room := m.engine.Counts(), m.engine.lasting.room
	got := []int{c.Running, room.queued, c.Blocked, room.blocked.Len()}
	if want := []int{len(m.running), m.queued(), len(m.blocked), len(m.blocked)}; !slices.Equal(got, want) || room.queued > m.size {
		t.Fatalf("step %d: %v, want %v", id, got, want)
	}
}

// Random steps leave the engine as the model says, each of them. So submitters are served in
// turn, a full room leaves other sources their turns, and a stopped source its slots.
func TestRoomModel(t *testing.T) {
	const sources = 4
	for round := range uint64(300) {
		r := rand.New(rand.NewPCG(*seed+round, 11))
		model := &roomModel{limit: 1 + r.IntN(3), size: r.IntN(4), queues: make([][]int, sources), stopped: make([]bool, sources)}
		synctest.Test(t, func(t *testing.T) {
			m := &modelled{
				roomModel: model, r: r, lim: limit.New(model.limit),
				ends: map[int]chan struct{}{}, gone: map[int]chan struct{}{},
			}
			m.engine, m.sources = sharing(m.lim, m.size, sources, time.Second)
			for id := range 120 {
				m.step(t, id)
				m.compare(t, id)
			}
			m.lim.Set(200)
			for id := range m.ends {
				m.end(id)
			}
			synctest.Wait()
			end(t, m.engine)
		})
		if t.Failed() {
			t.Fatalf("-stint.seed=%d", *seed+round)
		}
	}
}
