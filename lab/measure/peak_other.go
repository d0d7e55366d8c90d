//go:build !linux && !darwin

package measure

import "os"

// peakRSS is 0: not known here.
func peakRSS(*os.ProcessState) int64 { return 0 }

// ownPeak is 0, as peakRSS is.
func ownPeak() int64 { return 0 }
