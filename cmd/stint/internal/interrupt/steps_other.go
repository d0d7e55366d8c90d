//go:build !unix

package interrupt

import "os"

var steps map[os.Signal]int
