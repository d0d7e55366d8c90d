package errgroup

import (
	"runtime"

	"github.com/stint-go/stint/internal/task"
)

// A task is queued, then in the hand of a worker, and then it has ended. A worker is a
// goroutine that begins with a task in hand, or is sent to the queue; when its task has
// ended it runs what is queued, and when nothing is it ends. None waits for work: the
// runtime keeps the goroutines that have ended for the next ones.
//
// A goroutine for each task would have the scheduler do what the queue does for less.
// So, beyond the first few tasks, one worker at a time is on its way. When it has
// arrived it sends the next before it runs a task, if any are queued: tasks may wait,
// for each other perhaps, and each gets a worker.
//
// Invariant: while a task is queued that was accepted, a worker is on its way. What
// queues one, or ends a way, keeps it: place, work, arrive and SetLimit. In next, as
// many are taken out of the queue as are accepted in it.
const (
	few   = 3       // tasks that are active at once have workers of their own
	crowd = 1 << 30 // in Group.active: there is a limit, or a task is queued
)

// While there is neither a limit nor a queue, what is counted is counted without the
// lock, which would be a tenth of what a short task costs. The bit crowd is changed
// under the lock. A task is counted as started only in one step with the look at the
// bit, as a limit is made only in one step with the look whether tasks are active. A
// task may be counted as ended by a worker that has looked before: there is no limit
// then, and who queues a task sees to it that somebody looks.

// count returns how many tasks are active.
func (g *Group) count() int { return int(g.active.Load() &^ crowd) }

// start starts f, unless the group is full: then it returns false, with mu held.
func (g *Group) start(f func() error) bool {
	if n := g.active.Load(); n < few && g.active.CompareAndSwap(n, n+1) {
		g.workers.Add(1)
		go g.run(f)
		return true
	}
	g.mu.Lock()
	if g.full() {
		return false
	}
	g.active.Add(1)
	g.place(f)
	return true
}

// place starts a worker for f, which counts as active, or puts it in the queue. It is
// called with mu held, which it releases.
func (g *Group) place(f func() error) {
	if g.onWay {
		g.push(f)
		g.mu.Unlock()
		return
	}
	g.onWay = true
	g.workers.Add(1)
	g.mu.Unlock()
	go g.work(f)
}

// push puts f at the end of the queue. It is called with mu held.
func (g *Group) push(f func() error) {
	if g.queue == nil {
		g.queue = newQueue()
	}
	g.queue.push(f)
	g.active.Or(crowd)
}

// take takes the first accepted task out of the queue, or returns nil. It is called
// with mu held.
func (g *Group) take() func() error {
	if g.queued() == 0 {
		return nil
	}
	f := g.queue.pop()
	if g.queue.n == 0 && g.bound == nil {
		g.active.And(^crowd)
	}
	return f
}

// queued returns how many accepted tasks are queued. It is called with mu held.
func (g *Group) queued() int {
	if g.queue == nil {
		return 0
	}
	return g.queue.n - g.bound.waiting()
}

// help sends a worker to the queue, unless no task is there or one is on its way. It is
// called with mu held, which it releases.
func (g *Group) help() {
	if g.onWay || g.queued() == 0 {
		g.mu.Unlock()
		return
	}
	if g.queue.worker == nil {
		g.queue.worker = g.arrive
	}
	arrive := g.queue.worker
	g.onWay = true
	g.workers.Add(1)
	g.mu.Unlock()
	go arrive()
}

// work is the goroutine of a worker that was sent with f.
func (g *Group) work(f func() error) {
	g.mu.Lock()
	g.onWay = false
	g.help()
	g.run(f)
}

// arrive is the goroutine of a worker that was sent to the queue. Others may have run
// what was there.
func (g *Group) arrive() {
	g.mu.Lock()
	g.onWay = false
	f := g.take()
	g.help()
	g.run(f)
}

// run is the goroutine of a worker that begins with f. What does not return to it, a
// Goexit, perhaps with a panic in a deferred function, ends the goroutine: then another
// goes on.
func (g *Group) run(f func() error) {
	defer func() {
		if f != nil {
			go g.run(f)
			return
		}
		g.workers.Done()
	}()
	for f != nil {
		g.serve(&f)
	}
}

// serve runs *f and what is queued. When a task does not return it leaves in f the one
// to go on with.
func (g *Group) serve(f *func() error) {
	defer func() {
		if *f == nil {
			return
		}
		defer func() { *f = g.next() }() // also when the end of the context does not return
		g.failure(task.Unreturned(recover()))
	}()
	for *f != nil {
		if err := (*f)(); err != nil {
			g.failure(task.Outcome{Err: err})
		}
		*f = g.next()
	}
}

// next counts the task of a worker as ended and returns the one that it runs now, or
// nil. A submitter that is let in goes first, if its task is the one to be run: so it
// is in line again when a task ends, and does not wait for a processor until this one
// has ended.
func (g *Group) next() (f func() error) {
	if g.active.Load() < crowd {
		g.active.Add(-1)
		return nil
	}
	g.mu.Lock()
	g.active.Add(-1)
	admitted := g.admit()
	own := g.queued() == admitted
	f = g.take()
	g.mu.Unlock()
	if admitted > 0 {
		g.bound.tell(admitted)
		if own {
			runtime.Gosched()
		}
	}
	return f
}
