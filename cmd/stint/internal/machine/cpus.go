// Package machine tells what the machine has for child processes, and what they use.
package machine

import "runtime"

// CPUs returns how many CPUs the jobs of this process can keep busy: GOMAXPROCS, but no more
// than there are. It may change while the process runs.
//
// GOMAXPROCS follows the affinity of the process and the CPU quota of its cgroups, which it
// rounds up, to 2 at least. The environment variable counts if the user has set it: it is how
// a user tells Go programs what their share is, and jobs that are Go programs obey it as well.
func CPUs() int { return min(runtime.GOMAXPROCS(0), runtime.NumCPU()) }
