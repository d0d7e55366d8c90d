// Command launch runs one process and writes what it cost into a file. The
// laboratory builds it and starts everything that it measures through it, for
// the sake of its size: see measure.Launcher.
package main

import (
	"os"

	"github.com/stint-go/stint/lab/measure"
)

func main() {
	os.Exit(measure.Launch(os.Args[1], os.Args[2:]))
}
