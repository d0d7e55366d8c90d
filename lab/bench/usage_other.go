//go:build !unix

package bench

import "time"

// What this system does not tell is not reported.

func ownCPU() time.Duration { return 0 }

func switches() int64 { return 0 }
