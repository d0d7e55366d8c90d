//go:build !unix

package limit

import "math"

// MaxFiles returns how many descriptors this process may have: nothing limits them here.
func MaxFiles() int { return math.MaxInt32 }
