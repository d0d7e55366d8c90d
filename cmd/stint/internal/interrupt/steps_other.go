//go:build !unix

package interrupt

import "os"

const hasSteps = false

func notifySteps() <-chan os.Signal { return nil }

func step(os.Signal) int { return 0 }
