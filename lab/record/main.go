// Command record runs a session of "stint run" and writes it as docs/images/run.svg, an
// image that shows each line when it was printed. Run it again when the output of the
// command changes, in the root of the repository:
//
//	go run ./lab/record
//
// It needs bash, gzip and the go command. The commands run without a terminal. Progress lines,
// which stay then, replace each other in the image, as on a terminal.
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/stint-go/stint/lab/measure"
)

// image is the file that is written, in the root of the repository.
const image = "docs/images/run.svg"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := record(ctx, image); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

// record records the session in a directory of its own, and writes the image.
func record(ctx context.Context, name string) error {
	dir, err := os.MkdirTemp("", "record-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bin, work := filepath.Join(dir, "bin"), filepath.Join(dir, "work")
	err = cmp.Or(measure.Build(ctx, filepath.Join(bin, "stint"), "github.com/stint-go/stint/cmd/stint"), prepare(work))
	if err != nil {
		return err
	}
	lines, err := play(ctx, work, bin)
	if err != nil {
		return err
	}
	return os.WriteFile(name, render(lines), 0o666)
}
