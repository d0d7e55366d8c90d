//go:build !unix

package bench

import "time"

// own returns nothing: what this system does not tell is not reported.
func own() (cpu time.Duration, switches int64) { return 0, 0 }
