package md5

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alitto/pond/v2"
	"github.com/destel/rill"
	"github.com/panjf2000/ants/v2"
	"github.com/sourcegraph/conc/pool"
	"github.com/sourcegraph/conc/stream"
	"golang.org/x/sync/errgroup"
)

// An indexed value has a position in the order of the walk.
type indexed[T any] struct {
	at int
	of T
}

// pipeline is the pipeline of errgroup's documentation, except that paths are
// numbered to return a slice in order.
func pipeline(digesters func() int) func(context.Context, folder) ([]File, error) {
	return func(ctx context.Context, f folder) ([]File, error) {
		g, ctx := errgroup.WithContext(ctx)
		entries, files := make(chan indexed[entry]), make(chan indexed[File])
		g.Go(func() error {
			defer close(entries)
			at := 0
			for e := range f.walk() {
				select {
				case entries <- indexed[entry]{at, e}:
					at++
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
		for range digesters() {
			g.Go(func() error { return f.digester(ctx, entries, files) })
		}
		go func() {
			_ = g.Wait() // Wait is called again below
			close(files)
		}()
		var out []File
		for file := range files {
			out = append(out, make([]File, max(0, file.at+1-len(out)))...)
			out[file.at] = file.of
		}
		return out, g.Wait()
	}
}

// digester computes the digests of the received entries.
func (f folder) digester(ctx context.Context, entries <-chan indexed[entry], files chan<- indexed[File]) error {
	for e := range entries {
		file, err := f.file(e.of)
		if err != nil {
			return err
		}
		select {
		case files <- indexed[File]{e.at, file}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// orderedFiles holds the results of tasks in the order of their start.
type orderedFiles []*File

func (p *orderedFiles) next() *File {
	slot := new(File)
	*p = append(*p, slot)
	return slot
}

func (p orderedFiles) files() []File {
	out := make([]File, len(p))
	for i, slot := range p {
		out[i] = *slot
	}
	return out
}

func concPool(ctx context.Context, f folder) ([]File, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := pool.New().WithMaxGoroutines(procs()).WithContext(ctx).WithFirstError()
	var out orderedFiles
	for e := range f.walk() {
		if ctx.Err() != nil {
			break
		}
		slot := out.next()
		p.Go(func(context.Context) (err error) {
			if *slot, err = f.file(e); err != nil {
				cancel() // WithCancelOnError does not notify the submitter
			}
			return err
		})
	}
	if err := p.Wait(); err != nil {
		return nil, err
	}
	return out.files(), nil
}

func concStream(_ context.Context, f folder) ([]File, error) {
	var out []File
	var first error
	var failed atomic.Bool
	s := stream.New().WithMaxGoroutines(procs())
	for e := range f.walk() {
		if failed.Load() {
			break
		}
		s.Go(func() stream.Callback {
			file, err := f.file(e)
			if err != nil {
				failed.Store(true)
			}
			return func() {
				out = append(out, file)
				if first == nil {
					first = err
				}
			}
		})
	}
	s.Wait()
	if first != nil {
		return nil, first
	}
	return out, nil
}

// antsPool also measures the release of the pool: like all models it leaves
// nothing behind.
func antsPool(_ context.Context, f folder) (_ []File, err error) {
	p, err := ants.NewPool(procs())
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := p.ReleaseTimeout(time.Minute); err == nil {
			err = e
		}
	}()
	var out orderedFiles
	var ended sync.WaitGroup
	var first atomic.Pointer[error]
	for e := range f.walk() {
		if first.Load() != nil {
			break
		}
		slot := out.next()
		ended.Add(1)
		err := p.Submit(func() {
			defer ended.Done()
			var err error
			if *slot, err = f.file(e); err != nil {
				first.CompareAndSwap(nil, &err)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	ended.Wait()
	if failed := first.Load(); failed != nil {
		return nil, *failed
	}
	return out.files(), nil
}

// pondPool queues all files: the default queue is unbounded.
func pondPool(ctx context.Context, f folder) ([]File, error) {
	p := pond.NewResultPool[File](procs())
	defer p.StopAndWait()
	group := p.NewGroupContext(ctx)
	for e := range f.walk() {
		group.SubmitErr(func() (File, error) { return f.file(e) })
	}
	return group.Wait()
}

// rillOrdered returns at the first error, while started work continues for a
// while.
func rillOrdered(_ context.Context, f folder) ([]File, error) {
	return rill.ToSlice(rill.OrderedMap(rill.FromSeq(f.walk(), nil), procs(), f.file))
}
