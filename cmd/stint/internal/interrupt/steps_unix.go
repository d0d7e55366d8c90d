//go:build unix

package interrupt

import (
	"os"
	"os/signal"
	"syscall"
)

const hasSteps = true

// notifySteps returns a channel of USR1 and USR2.
func notifySteps() <-chan os.Signal {
	c := make(chan os.Signal, 64)
	signal.Notify(c, syscall.SIGUSR1, syscall.SIGUSR2)
	return c
}

// step returns 1 for USR1, and -1 for USR2.
func step(s os.Signal) int {
	if s == syscall.SIGUSR1 {
		return 1
	}
	return -1
}
