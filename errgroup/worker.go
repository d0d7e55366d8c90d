package errgroup

import (
	"runtime"

	"github.com/stint-go/stint/internal/task"
)

// A worker is a goroutine that starts with a task, or with a look at the queue. It runs
// queued tasks until none is left, and then returns; the runtime keeps the goroutine for
// the next one.
//
// A goroutine for each task costs more than a place in the queue. So, beyond the first few
// tasks, only one worker at a time is starting. It starts the next worker before it runs a
// task, if any task is queued: tasks may wait for each other, so each must get a worker.
//
// Invariant: while an accepted task is queued, a worker is starting. dispatch, taskWorker,
// queueWorker and SetLimit, which queue tasks or finish a start, keep it. next takes as
// many tasks out of the queue as it accepts.
//
// While there is neither a limit nor a queue, active tasks are counted without the lock,
// which would cost a tenth of a short task. The bit locked is changed under the lock. One
// atomic step counts a task as started and checks the bit; one atomic step makes a limit
// and checks that no task is active. A worker that checked the bit earlier may still count
// its task as finished: then there is no limit, and a worker is starting for each queued
// task.
const (
	maxUnqueued = 3       // active tasks, below which a task gets a worker of its own
	locked      = 1 << 30 // in Group.active: there is a limit, or a task is queued
)

// count returns how many tasks are active.
func (g *Group) count() int { return int(g.active.Load() &^ locked) }

// start starts f, unless the group is full: then it returns false, with mu held.
func (g *Group) start(f func() error) bool {
	if n := g.active.Load(); n < maxUnqueued && g.active.CompareAndSwap(n, n+1) {
		g.workers.Add(1)
		go g.run(f)
		return true
	}
	g.mu.Lock()
	if g.full() {
		return false
	}
	g.active.Add(1)
	g.dispatch(f)
	return true
}

// dispatch starts a worker for f, which is active, or queues it. It is called with mu
// held, and unlocks it.
func (g *Group) dispatch(f func() error) {
	if g.starting {
		g.push(f)
		g.mu.Unlock()
		return
	}
	g.starting = true
	g.workers.Add(1)
	g.mu.Unlock()
	go g.taskWorker(f)
}

// push puts f at the end of the queue. It is called with mu held.
func (g *Group) push(f func() error) {
	if g.queue == nil {
		g.queue = newQueue()
	}
	g.queue.push(f)
	g.active.Or(locked)
}

// take removes the first accepted task from the queue, or returns nil. It is called with
// mu held.
func (g *Group) take() func() error {
	if g.queued() == 0 {
		return nil
	}
	f := g.queue.pop()
	if g.queue.n == 0 && g.limiter == nil {
		g.active.And(^locked)
	}
	return f
}

// queued returns how many accepted tasks are queued. It is called with mu held.
func (g *Group) queued() int {
	if g.queue == nil {
		return 0
	}
	return g.queue.n - g.limiter.waiting()
}

// startWorker starts a worker if a task is queued and no worker is starting. It is called
// with mu held, and unlocks it.
func (g *Group) startWorker() {
	if g.starting || g.queued() == 0 {
		g.mu.Unlock()
		return
	}
	if g.queue.worker == nil {
		g.queue.worker = g.queueWorker
	}
	worker := g.queue.worker
	g.starting = true
	g.workers.Add(1)
	g.mu.Unlock()
	go worker()
}

// taskWorker is the goroutine of a worker that was started with f.
func (g *Group) taskWorker(f func() error) {
	g.mu.Lock()
	g.starting = false
	g.startWorker()
	g.run(f)
}

// queueWorker is the goroutine of a worker that takes its first task from the queue.
// Others may have run what was there.
func (g *Group) queueWorker() {
	g.mu.Lock()
	g.starting = false
	f := g.take()
	g.startWorker()
	g.run(f)
}

// run runs f and queued tasks. If a task ends the goroutine, by a Goexit with or without a
// panic in a deferred function, another goroutine continues.
func (g *Group) run(f func() error) {
	defer func() {
		if f != nil {
			go g.run(f)
			return
		}
		g.workers.Done()
	}()
	for f != nil {
		g.runTasks(&f)
	}
}

// runTasks runs *f and queued tasks. If one does not return, it stores the next in *f.
func (g *Group) runTasks(f *func() error) {
	defer func() {
		if *f == nil {
			return
		}
		defer func() { *f = g.next() }() // even if cancelling the context does not return
		g.fail(task.Unreturned(recover()))
	}()
	for *f != nil {
		if err := (*f)(); err != nil {
			g.fail(task.Outcome{Err: err})
		}
		*f = g.next()
	}
}

// next counts the task of a worker as finished, and returns the worker's next task, or nil.
// If that task belongs to a submitter that was admitted just now, the worker lets the
// submitter run first. So the submitter has queued its next task when this one finishes,
// instead of waiting for a CPU.
func (g *Group) next() (f func() error) {
	if g.active.Load() < locked {
		g.active.Add(-1)
		return nil
	}
	g.mu.Lock()
	g.active.Add(-1)
	admitted := g.admit()
	justAdmitted := g.queued() == admitted
	f = g.take()
	g.mu.Unlock()
	if admitted > 0 {
		g.limiter.wake(admitted)
		if justAdmitted {
			runtime.Gosched()
		}
	}
	return f
}
