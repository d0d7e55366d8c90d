package main

import (
	"context"
	"fmt"
	"iter"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	redraw   = 100 * time.Millisecond // on a terminal
	logEvery = time.Second            // elsewhere, where every line stays
)

// amount is files and bytes, done or to do.
type amount struct {
	files int64
	bytes int64
}

// watch shows progress until stop is called, if it is to be shown at all.
// items are what there is to do, once more, to be counted beside the work; nil
// if it cannot be known.
func (s *summer) watch(ctx context.Context, items iter.Seq[item]) (stop func()) {
	terminal := isTerminal(s.std.stderr) && os.Getenv("TERM") != "dumb"
	if s.progress == "never" || s.progress == "auto" && !terminal {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var total atomic.Pointer[amount] // nil until the count is complete
	var wg sync.WaitGroup
	if items != nil {
		wg.Go(func() {
			all, _ := patiently(ctx, func() (*amount, error) { return count(ctx, items), nil })
			total.Store(all)
		})
	}
	started := time.Now()
	line := func() string {
		done := amount{s.console.files.Load(), s.digester.bytes.Load()}
		return progressLine(done, total.Load(), time.Since(started))
	}
	wg.Go(func() { s.console.follow(ctx, terminal, line) })
	return func() {
		cancel()
		wg.Wait()
	}
}

// follow shows line again and again until ctx ends. On a terminal it then
// leaves nothing behind; elsewhere it leaves the last state.
func (c *console) follow(ctx context.Context, terminal bool, line func() string) {
	every := logEvery
	if terminal {
		every = redraw
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			if terminal {
				c.hide()
			} else {
				c.plain(line())
			}
			return
		case <-tick.C:
		}
		if terminal {
			text := line()
			c.show(text[:min(len(text), c.columns()-1)])
		} else {
			c.plain(line())
		}
	}
}

// counting is a second walk over what w will walk, for the total. What can be
// read only once, standard input or another pipe, is not read for that.
func (s *summer) counting(ctx context.Context, w *walker) iter.Seq[item] {
	if s.filesFrom == "-" || s.filesFrom != "" && kindOf(s.filesFrom) != regular {
		return nil
	}
	again := *w // before the walk begins, which changes it
	return func(yield func(item) bool) {
		if paths, err := s.paths(ctx); err == nil {
			again.items(paths)(yield)
		}
	}
}

// count adds up items, and returns nil if ctx ends before it is through or if
// something is of a size that is not known beforehand.
func count(ctx context.Context, items iter.Seq[item]) *amount {
	var a amount
	for it := range items {
		if ctx.Err() != nil {
			return nil
		}
		a.files++
		if it.err != nil || it.kind == skipped || it.kind == stdinAgain {
			continue
		}
		if it.kind != regular {
			return nil
		}
		if info, err := os.Stat(it.path); err == nil {
			a.bytes += info.Size()
		}
	}
	return &a
}

// progressLine says what is done, and what is left once the total is known. It
// is ASCII, so that it can be cut anywhere.
func progressLine(done amount, total *amount, elapsed time.Duration) string {
	rate := float64(done.bytes) / max(elapsed.Seconds(), 1e-3)
	if total == nil {
		return fmt.Sprintf("%d files, %s, %s/s", done.files, size(float64(done.bytes)), size(rate))
	}
	line := fmt.Sprintf("%d/%d files, %s of %s, %s/s", done.files, total.files,
		size(float64(done.bytes)), size(float64(total.bytes)), size(rate))
	if left := float64(total.bytes - done.bytes); left > 0 && rate > 0 {
		line += fmt.Sprintf(", %s left", seconds(left/rate))
	}
	return line
}

// size writes a number of bytes with three digits and a decimal unit.
func size(n float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB", "EB"}
	i := 0
	for n >= 999.5 && i < len(units)-1 {
		n /= 1000
		i++
	}
	if i == 0 || n >= 99.95 {
		return fmt.Sprintf("%.0f %s", n, units[i])
	}
	return fmt.Sprintf("%.1f %s", n, units[i])
}

// seconds writes a duration to the precision that an estimate deserves.
func seconds(s float64) string {
	n := int64(s + 0.5)
	switch {
	case n < 60:
		return fmt.Sprintf("%ds", n)
	case n < 3600:
		return fmt.Sprintf("%dm%02ds", n/60, n%60)
	}
	return fmt.Sprintf("%dh%02dm", n/3600, n/60%60)
}
