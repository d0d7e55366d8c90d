//go:build unix

package run

import (
	"runtime"
	"syscall"
)

// maxArguments returns how many bytes the arguments and variables of a process may have.
func maxArguments() int {
	const least, most = 128 << 10, 6 << 20 // of Linux, which allows a quarter of the stack
	if runtime.GOOS != "linux" {
		return 256 << 10 // of the BSDs; macOS allows more
	}
	var stack syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_STACK, &stack) != nil {
		return least
	}
	return int(min(max(stack.Cur/4, least), most))
}
