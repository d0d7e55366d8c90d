// Command job is what the processes of the benchmarks run: it computes, takes memory, waits and prints its item, and
// starts in a millisecond.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/stint-go/stint/lab/bench"
)

func main() {
	steps := flag.Int("steps", 0, "compute for `N` steps of bench.Spin")
	memory := flag.Int("memory", 0, "take `N` bytes")
	wait := flag.Duration("wait", 0, "wait so long")
	lines := flag.Int("lines", 1, "print the item `N` times")
	first := flag.Duration("first", 0, "wait so long for item 0")
	flag.Parse()
	runtime.KeepAlive(bench.Spin(*steps))
	held := make([]byte, *memory)
	for i := 0; i < len(held); i += 1 << 10 {
		held[i] = 1
	}
	time.Sleep(*wait)
	runtime.KeepAlive(held)
	item := flag.Arg(0)
	if strings.Trim(item, "0") == "" {
		time.Sleep(*first)
	}
	if _, err := os.Stdout.Write(bytes.Repeat([]byte(item+"\n"), *lines)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
