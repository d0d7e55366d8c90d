//go:build !unix

package command

// maxArguments returns how many bytes the arguments of a process may have, whatever its variables
// have: Windows allows a command line of 32,767 characters.
func maxArguments(int) int { return 32767 }

// MaxArgument returns how many bytes one of them may have.
func MaxArgument() int { return maxArguments(0) }

// defaultPath is where programs are looked up if there is no PATH.
const defaultPath = ""
