//go:build !unix

package advise

import "time"

// processCPU returns 0: the CPU time of this process is not known.
func processCPU() time.Duration { return 0 }
