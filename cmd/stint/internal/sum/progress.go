package sum

import (
	"context"
	"fmt"
	"iter"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/files"
	"github.com/stint-go/stint/cmd/stint/internal/interrupt"
)

// amount is a number of files and bytes.
type amount struct {
	files int64
	bytes int64
}

// showProgress shows the progress line until stop is called, if --progress wants it. It
// counts items for the total, concurrently with the work; nil: the total is unknown.
func (s *Summer) showProgress(ctx context.Context, items iter.Seq[files.Item]) (stop func()) {
	readsStdin := s.FilesFrom == "-" || slices.Contains(s.args, "-")
	progress := s.std.Progress(s.Progress, readsStdin && console.IsTerminal(s.std.Stdin))
	isFed := s.Progress == "auto" && readsStdin && console.IsPipe(s.std.Stdin) // what writes to the pipe may write errors
	if progress == console.NoProgress || isFed {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var total atomic.Pointer[amount] // nil until the count is complete
	var wg sync.WaitGroup
	if items != nil {
		wg.Go(func() {
			all, _ := interrupt.Call(ctx, func() (*amount, error) { return count(ctx, items), nil })
			total.Store(all)
		})
	}
	started := time.Now()
	done := func() amount { return amount{s.done.Load(), s.digester.bytes.Load()} }
	end := s.console.Follow(progress,
		func() string { return progressLine(done(), total.Load(), time.Since(started)) },
		func() string { return lastLine(done(), time.Since(started)) })
	return func() {
		cancel()
		end()
		wg.Wait()
	}
}

// secondWalk returns what w will yield, for the total, or nil if the list of files can be
// read only once: from standard input or another pipe.
func (s *Summer) secondWalk(ctx context.Context, w *files.Walker) iter.Seq[files.Item] {
	if s.FilesFrom == "-" || s.FilesFrom != "" && files.KindOf(s.FilesFrom) != files.Regular {
		return nil
	}
	second := *w // copied before the first walk changes it
	return func(yield func(files.Item) bool) {
		if paths, err := s.paths(ctx); err == nil {
			second.Items(ctx, paths)(yield)
		}
	}
}

// count adds up items. It returns nil if ctx ends first or if a size is unknown.
func count(ctx context.Context, items iter.Seq[files.Item]) *amount {
	var a amount
	for it := range items {
		if ctx.Err() != nil {
			return nil
		}
		a.files++
		if it.Err != nil || it.Kind == files.Skipped || it.Kind == files.StdinAgain {
			continue
		}
		if it.Kind != files.Regular {
			return nil
		}
		if info, err := os.Stat(it.Path); err == nil {
			a.bytes += info.Size()
		}
	}
	return &a
}

// progressLine returns what is done, and what is left if the total is known. It is
// ASCII, so that it can be cut anywhere.
func progressLine(done amount, total *amount, elapsed time.Duration) string {
	rate := done.rate(elapsed)
	if total == nil {
		return fmt.Sprintf("%d files, %s, %s/s", done.files, console.Bytes(float64(done.bytes)), console.Bytes(rate))
	}
	line := fmt.Sprintf("%d/%d files, %s of %s, %s/s", done.files, total.files,
		console.Bytes(float64(done.bytes)), console.Bytes(float64(total.bytes)), console.Bytes(rate))
	if left := float64(total.bytes - done.bytes); left > 0 && rate > 0 {
		line += fmt.Sprintf(", %s left", console.Seconds(left/rate))
	}
	return line
}

// lastLine returns what was done.
func lastLine(done amount, elapsed time.Duration) string {
	what := "files"
	if done.files == 1 {
		what = "file"
	}
	return fmt.Sprintf("%d %s, %s in %s, %s/s", done.files, what, console.Bytes(float64(done.bytes)), console.Elapsed(elapsed), console.Bytes(done.rate(elapsed)))
}

// rate returns bytes a second.
func (a amount) rate(elapsed time.Duration) float64 {
	return float64(a.bytes) / max(elapsed.Seconds(), 1e-3)
}
