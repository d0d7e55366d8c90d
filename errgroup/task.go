package errgroup

import "github.com/stint-go/stint/internal/task"

// run is the goroutine of a task. It calls f and records how it failed.
func (g *Group) run(f func() error) {
	defer g.release() // even if cancelling the context does not return
	returned := false
	defer func() {
		if !returned {
			g.fail(task.Unreturned(recover()))
		}
	}()
	if err := f(); err != nil {
		g.fail(task.Outcome{Err: err})
	}
	returned = true
}
