//go:build race

package loop

import "github.com/stint-go/stint/internal/race"

// Workers are reused, as in other programs, and the race detector watches that.
func init() { race.Sharp = false }
