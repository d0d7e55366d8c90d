//go:build unix

package run

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/limit"
	"github.com/stint-go/stint/cmd/stint/internal/process"
)

// suspendTime is longer than this process needs to stop.
const suspendTime = time.Second

// suspendTogether makes Ctrl-Z stop the jobs, too, until this process continues: their process
// groups are not that of the terminal.
func suspendTogether(engine *process.Engine, l *limit.Limit) (end func()) {
	if signal.Ignored(syscall.SIGTSTP) || process.IsOrphaned() {
		return func() {}
	}
	suspend, resume, done := make(chan os.Signal, 1), make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(suspend, syscall.SIGTSTP)
	signal.Notify(resume, syscall.SIGCONT)
	go func() {
		for {
			select {
			case <-suspend:
			case <-resume: // somebody has sent a SIGSTOP, or only this
				continue
			case <-done:
				return
			}
			engine.Stop()
			stopped := time.Now()
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // the runtime does not restore the action of SIGTSTP
			select {
			case <-resume:
			case <-time.After(suspendTime): // another Ctrl-Z may discard the SIGCONT
			}
			l.Paused(time.Since(stopped))
			engine.Continue()
		}
	}()
	return func() {
		signal.Stop(suspend)
		signal.Stop(resume)
		close(done)
	}
}
