//go:build !unix

package measure

import "time"

// OwnCPU is not known here.
func OwnCPU() (d time.Duration, ok bool) { return 0, false }
