//go:build unix

package console

import "golang.org/x/sys/unix"

// inForeground reports whether this process is in the group that has the terminal, as far as it is
// known: not if the terminal controls other processes.
func inForeground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	own := int64(unix.Getpgrp())
	return err != nil || int64(group) == own || int64(group)>>32 == own // 32 bits, on some machines the upper ones
}
