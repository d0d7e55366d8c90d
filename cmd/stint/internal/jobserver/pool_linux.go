package jobserver

import (
	"strconv"

	"golang.org/x/sys/unix"
)

const fionread = unix.TIOCINQ

// reopen opens the pipe of a descriptor anew: O_NONBLOCK is then set for this process alone.
func reopen(fd, mode int) (int, error) {
	return unix.Open("/proc/self/fd/"+strconv.Itoa(fd), mode|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
}
