//go:build unix

package interrupt

import (
	"os"
	"syscall"
)

// steps are the signals of Steps, and what each adds.
var steps = map[os.Signal]int{syscall.SIGUSR1: 1, syscall.SIGUSR2: -1}
