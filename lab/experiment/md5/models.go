package md5

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/panjf2000/ants/v2"
	"github.com/sourcegraph/conc/pool"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
	"golang.org/x/sync/errgroup"
)

// A model returns the files of a folder in the order of the walk, or the first
// error of the walk or of a file.
type model struct {
	result.Model
	run func(ctx context.Context, f folder) ([]file, error)
}

const nameMapSeq = "stint.MapSeq"

var allModels = []model{
	{result.Peer.Model(models.NameSequential, "filepath.WalkDir, one file after the other"), sequential},
	{result.Peer.Model("errgroup", "x/sync v0.24.0, errgroup: one goroutine walks, five take digests, the caller collects; unbuffered channels"), pipeline},
	{result.Peer.Model("conc", "sourcegraph/conc v0.3.0, pool.New().WithMaxGoroutines.WithContext.WithCancelOnError.WithFirstError"), concPool},
	{result.Peer.Model("ants", "panjf2000/ants/v2 v2.12.1, NewPool, a sync.WaitGroup and the first error"), antsPool},
	{result.Ours.Model(nameMapSeq, "MapSeq without an option over the walk"), mapSeq},
}

func sequential(_ context.Context, f folder) (out []file, err error) {
	for e := range f.walk() {
		one, err := f.file(e)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// mapSeq takes digests that do not watch the context: they are short.
func mapSeq(ctx context.Context, f folder) (out []file, err error) {
	for one, err := range stint.MapSeq(ctx, f.walk(), func(_ context.Context, e entry) (file, error) { return f.file(e) }) {
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// An indexed value has a position in the order of the walk.
type indexed[T any] struct {
	at int
	of T
}

// pipeline is the pipeline of errgroup's documentation, except that paths are
// numbered to return a slice in order.
func pipeline(ctx context.Context, f folder) (out []file, err error) {
	g, ctx := errgroup.WithContext(ctx)
	entries, files := make(chan indexed[entry]), make(chan indexed[file])
	g.Go(func() error {
		defer close(entries)
		at := 0
		for e := range f.walk() {
			if err := send(ctx, entries, indexed[entry]{at, e}); err != nil {
				return err
			}
			at++
		}
		return nil
	})
	for range 5 {
		g.Go(func() error {
			for e := range entries {
				one, err := f.file(e.of)
				if err != nil {
					return err
				}
				if err := send(ctx, files, indexed[file]{e.at, one}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	go func() {
		_ = g.Wait() // Wait is called again below
		close(files)
	}()
	for one := range files {
		out = append(out, make([]file, max(0, one.at+1-len(out)))...)
		out[one.at] = one.of
	}
	return out, g.Wait()
}

func send[T any](ctx context.Context, to chan<- T, v T) error {
	select {
	case to <- v:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// slots hold the results of tasks in the order of their start.
type slots []*file

func (s *slots) next() *file {
	*s = append(*s, new(file))
	return (*s)[len(*s)-1]
}

// files returns the results if err is nil.
func (s slots) files(err error) (out []file, _ error) {
	for i := 0; err == nil && i < len(s); i++ {
		out = append(out, *s[i])
	}
	return out, err
}

func concPool(ctx context.Context, f folder) ([]file, error) {
	p := pool.New().WithMaxGoroutines(runtime.GOMAXPROCS(0)).WithContext(ctx).WithCancelOnError().WithFirstError()
	var out slots
	for e := range f.walk() {
		slot := out.next()
		p.Go(func(ctx context.Context) (err error) {
			if err = ctx.Err(); err == nil {
				*slot, err = f.file(e)
			}
			return err
		})
	}
	return out.files(p.Wait())
}

// antsPool also measures the release of the pool: like all models it leaves
// nothing behind.
func antsPool(_ context.Context, f folder) ([]file, error) {
	p, err := ants.NewPool(runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	var out slots
	var ended sync.WaitGroup
	var failed atomic.Pointer[error]
	for e := range f.walk() {
		slot := out.next()
		ended.Add(1)
		err := p.Submit(func() {
			defer ended.Done()
			var err error
			if *slot, err = f.file(e); err != nil {
				failed.CompareAndSwap(nil, &err)
			}
		})
		if err != nil {
			panic(err) // the pool was closed
		}
		if failed.Load() != nil {
			break
		}
	}
	ended.Wait()
	if err := failed.Load(); err != nil {
		return nil, errors.Join(*err, p.ReleaseTimeout(time.Minute))
	}
	return out.files(p.ReleaseTimeout(time.Minute))
}
