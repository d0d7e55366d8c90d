//go:build !linux

package machine

import "runtime"

// Sample returns what a process and its descendants use. Here it is never ok.
func Sample(pid int) (u Usage, ok bool) { return Usage{}, false }

// Lives reports whether there is a process with this number. Here that is not known: true.
func Lives(pid int) bool { return true }

// affinity returns how many CPUs there are.
func affinity() int { return runtime.NumCPU() }
