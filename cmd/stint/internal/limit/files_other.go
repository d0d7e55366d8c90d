//go:build !unix

package limit

import "math"

// maxFiles returns how many descriptors this process may have: nothing limits them here.
func maxFiles() int { return math.MaxInt32 }
