package errgroup

import (
	"runtime"

	"github.com/stint-go/stint/internal/task"
)

// A task is queued, then in the hand of a worker, and then it has ended. A worker is a
// goroutine that begins with a task in hand; when that has ended it runs what is
// queued, and when nothing is it ends. None waits for work: the runtime keeps the
// goroutines that have ended for the next ones.
//
// A goroutine for each task would have the scheduler do what the queue does for less.
// So, beyond the first few tasks, two workers at most are on their way at a time. One
// that has arrived sends the next before it runs its own task, if any are queued: tasks
// may wait, for each other perhaps, and each gets a worker.
//
// Invariant: while a task is queued that was accepted, a worker is on its way. What
// queues one, or ends a way, keeps it: place, work and SetLimit. In next, as many are
// taken out of the queue as are accepted in it.
const (
	few   = 3       // tasks that are active at once have workers of their own
	onWay = 2       // workers at most
	crowd = 1 << 30 // of Group.active: there has been a limit, or a queue
)

// A group without a limit that has few tasks needs neither the queue nor the lock: they
// would be a tenth of what a short task costs. So whoever finds crowd not set counts
// tasks in and out without the lock. It is set under the lock and stays, and from then
// on what is counted is changed under the lock, but for the end of a task whose worker
// has looked before. That one then leaves the queue as it is, which it may.

// count returns how many tasks are active.
func (g *Group) count() int { return int(g.active.Load() &^ crowd) }

// start starts f, unless the group is full: then it returns false, with mu held.
func (g *Group) start(f func() error) bool {
	if g.active.Load() < crowd {
		if g.active.Add(1) <= few {
			g.workers.Add(1)
			go g.run(f)
			return true
		}
		g.mu.Lock()
		g.active.Or(crowd)
	} else {
		g.mu.Lock()
		if g.full() {
			return false
		}
		g.active.Add(1)
	}
	g.place(f)
	return true
}

// place starts a worker for f, which counts as active, or puts it in the queue. It is
// called with mu held, which it releases.
func (g *Group) place(f func() error) {
	if g.onWay < onWay {
		g.send(f)
		return
	}
	g.push(f)
	g.mu.Unlock()
}

// push puts f at the end of the queue. It is called with mu held.
func (g *Group) push(f func() error) {
	if g.queue == nil {
		g.queue = new(queue)
	}
	g.queue.push(f)
}

// queued returns how many accepted tasks are queued. It is called with mu held.
func (g *Group) queued() int {
	if g.queue == nil {
		return 0
	}
	return g.queue.n - g.bound.waiting()
}

// send starts a worker that looks at the queue before it runs f. It is called with mu
// held, which it releases.
func (g *Group) send(f func() error) {
	g.onWay++
	g.workers.Add(1)
	g.mu.Unlock()
	go g.work(f)
}

// help sends a worker to the queue, unless no task is there or enough are on their
// way. It is called with mu held, which it releases.
func (g *Group) help() {
	if g.onWay >= onWay || g.queued() == 0 {
		g.mu.Unlock()
		return
	}
	g.onWay++
	g.workers.Add(1)
	if g.queue.worker == nil {
		g.queue.worker = g.arrive
	}
	arrive := g.queue.worker
	g.mu.Unlock()
	go arrive()
}

// work is the goroutine of a worker that was sent with f.
func (g *Group) work(f func() error) {
	g.mu.Lock()
	g.onWay--
	g.help()
	g.run(f)
}

// arrive is the goroutine of a worker that was sent to the queue. Others may have run
// what was there.
func (g *Group) arrive() {
	g.mu.Lock()
	g.onWay--
	f := g.take()
	g.help()
	g.run(f)
}

// take takes the first accepted task out of the queue, or returns nil. It is called
// with mu held.
func (g *Group) take() func() error {
	if g.queued() == 0 {
		return nil
	}
	return g.queue.pop()
}

// run is the goroutine of a worker that begins with f.
func (g *Group) run(f func() error) {
	for f != nil {
		f = g.serve(f)
	}
	g.workers.Done()
}

// serve runs f and what is queued. When a task panics it returns the one to go on with.
func (g *Group) serve(f func() error) (next func() error) {
	defer func() {
		if f == nil {
			return
		}
		o := task.Unreturned(recover())
		g.failure(o)
		next = g.next()
		switch {
		case !o.Goexit:
		case next != nil:
			go g.run(next) // this goroutine ends
		default:
			g.workers.Done()
		}
	}()
	for f != nil {
		if err := f(); err != nil {
			g.failure(task.Outcome{Err: err})
		}
		f = g.next()
	}
	return nil
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
