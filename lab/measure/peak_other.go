//go:build !linux && !darwin

package measure

import "os"

// peakRSS returns 0: not known here.
func peakRSS(*os.ProcessState) int64 { return 0 }

// ownPeak returns 0: not known here.
func ownPeak() int64 { return 0 }
