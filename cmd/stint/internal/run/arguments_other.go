//go:build !unix

package run

// maxArguments returns how many bytes the arguments of a process may have: Windows allows a
// command line of 32,767 characters.
func maxArguments() int { return 32767 }
