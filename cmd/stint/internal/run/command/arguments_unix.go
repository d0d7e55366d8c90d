//go:build unix

package command

import (
	"os"
	"runtime"
	"syscall"
)

// maxArguments returns how many bytes the arguments of a process may have if its variables have so
// many.
func maxArguments(variables int) int {
	const least, most = 128 << 10, 6 << 20 // of Linux, which allows a quarter of the stack
	if runtime.GOOS != "linux" {
		return 256<<10 - variables // of the BSDs; macOS allows more
	}
	var stack syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_STACK, &stack) != nil {
		return least - variables
	}
	return int(min(max(stack.Cur/4, least), most)) - variables
}

// MaxArgument returns how many bytes one of them may have.
func MaxArgument() int {
	if runtime.GOOS != "linux" {
		return maxArguments(0)
	}
	return 32*os.Getpagesize() - 1 // and a NUL
}

// defaultPath is where programs are looked up if there is no PATH, as by execvp(3).
const defaultPath = "/bin:/usr/bin"
