//go:build !unix

package advise

import "time"

// processUse returns 0: neither is known.
func processUse() (cpu, slept time.Duration) { return 0, 0 }
