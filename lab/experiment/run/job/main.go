// Command job is what the processes of the experiment run: it computes, takes memory,
// prints and waits, and starts in a millisecond. With -guard it runs another command
// instead, until its standard input ends.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"time"

	"github.com/stint-go/stint/lab/load"
)

func main() {
	var j job
	flag.IntVar(&j.steps, "steps", 0, "compute for `N` steps of package load")
	flag.IntVar(&j.memory, "memory", 0, "take `N` bytes")
	flag.IntVar(&j.bytes, "print", 0, "print so many `BYTES` of lines with the item")
	flag.DurationVar(&j.wait, "wait", 0, "wait so long")
	flag.StringVar(&j.file, "until", "", "item 0 waits until `FILE` exists")
	flag.IntVar(&j.last, "last", 0, "item `N` makes that file")
	guarded := flag.Bool("guard", false, "run the command of the operands, and kill it when standard input ends")
	flag.Parse()
	err := error(nil)
	if *guarded {
		err = guard(flag.Args())
	} else {
		err = j.run(flag.Arg(0))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A job is what is done for an item.
type job struct {
	steps, memory, bytes int
	wait                 time.Duration
	file                 string
	last                 int
}

func (j job) run(item string) error {
	if j.steps > 0 {
		runtime.KeepAlive(load.Spin(j.steps))
	}
	held := make([]byte, j.memory)
	for i := 0; i < len(held); i += 1 << 10 {
		held[i] = 1
	}
	time.Sleep(j.wait)
	runtime.KeepAlive(held)
	if j.file != "" {
		if err := j.meet(item); err != nil {
			return err
		}
	}
	return j.print(item)
}

// meet lets the first item wait for the last.
func (j job) meet(item string) error {
	switch n, err := strconv.Atoi(item); {
	case err != nil:
		return err
	case n == j.last:
		return os.WriteFile(j.file, nil, 0o666)
	case n > 0:
		return nil
	}
	for range 6000 {
		if _, err := os.Stat(j.file); err == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("the last job has not run for a minute")
}

// print prints lines, or just one.
func (j job) print(item string) error {
	line := append([]byte(item), '\n')
	w := bufio.NewWriterSize(os.Stdout, 64<<10)
	_, err := w.Write(bytes.Repeat(line, max(1, j.bytes/len(line))))
	return errors.Join(err, w.Flush())
}

// guard runs a command, which is killed when standard input ends, as it does when the
// laboratory ends, or lets the command die.
func guard(args []string) error {
	ctx, end := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // for any reason
		end()
	}()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stdout // either says that it is ready
	if err := cmd.Run(); ctx.Err() == nil {
		return fmt.Errorf("it has ended: %v", err)
	}
	return nil
}
