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
// So, once a few tasks are active, two workers are on their way at a time. One that has
// arrived sends the next before it runs its own task, if any are queued: they may all
// wait, for each other perhaps, and each gets a worker.
//
// Invariant: while a task is queued that was accepted, a worker is on its way. What
// queues one, or ends a way, keeps it: accept, work and SetLimit. In next, as many are
// taken out of the queue as are accepted in it.
const (
	few   = 2 // active tasks have workers of their own: a small group needs no queue
	onWay = 2 // workers at most
)

// accept counts f as active, and starts a worker for it or puts it in the queue. It is
// called with mu held, which it releases.
func (g *Group) accept(f func() error) {
	g.active++
	if g.active <= few {
		g.workers.Add(1)
		g.mu.Unlock()
		go g.run(f)
		return
	}
	g.push(f)
	g.send()
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

// send starts a worker for the first task in the queue, unless there is none or enough
// are on their way. It is called with mu held, which it releases.
func (g *Group) send() {
	if g.onWay >= onWay || g.queued() == 0 {
		g.mu.Unlock()
		return
	}
	f := g.queue.pop()
	g.onWay++
	g.workers.Add(1)
	g.mu.Unlock()
	go g.work(f)
}

// work is the goroutine of a worker that was sent with f.
func (g *Group) work(f func() error) {
	g.mu.Lock()
	g.onWay--
	g.send()
	g.run(f)
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
// nil.
func (g *Group) next() (f func() error) {
	g.mu.Lock()
	g.active--
	admitted := g.admit()
	queued := g.queued()
	if queued > 0 {
		f = g.queue.pop()
	}
	g.mu.Unlock()
	if admitted > 0 {
		g.bound.room.Signal()
		if queued == admitted {
			runtime.Gosched() // to the submitter, so that it is in line again when this or another task ends
		}
	}
	return f
}
