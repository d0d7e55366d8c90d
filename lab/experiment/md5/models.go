package md5

import (
	"cmp"
	"context"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/panjf2000/ants/v2"
	"github.com/sourcegraph/conc/pool"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
	"golang.org/x/sync/errgroup"
)

// A way takes the digests of paths and returns them in the order of the paths,
// or the first error.
type way func(ctx context.Context, paths iter.Seq[string], digest func(string) (file, error)) ([]file, error)

type model struct {
	result.Model
	run way
}

const nameMapSeq = "stint.MapSeq"

var allModels = []model{
	{result.Peer.Model(models.NameSequential, "filepath.WalkDir, one file after the other"), sequential},
	{result.Peer.Model("errgroup", "x/sync v0.24.0: a goroutine walks, five take digests, the caller collects and sorts; unbuffered channels"), pipeline},
	{result.Peer.Model("conc", "sourcegraph/conc v0.3.0, pool.NewWithResults with a context, cancelled by the first error, and a sort"), concPool},
	{result.Peer.Model("ants", "panjf2000/ants/v2 v2.12.1, NewPool, a sync.WaitGroup, a lock for the results and the first error, and a sort"), antsPool},
	{result.Ours.Model(nameMapSeq, "MapSeq without an option over the walk"), mapSeq},
}

func sequential(_ context.Context, paths iter.Seq[string], digest func(string) (file, error)) (out []file, err error) {
	for path := range paths {
		one, err := digest(path)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// mapSeq takes digests that do not watch the context: they are short.
func mapSeq(ctx context.Context, paths iter.Seq[string], digest func(string) (file, error)) (out []file, err error) {
	for one, err := range stint.MapSeq(ctx, paths, func(_ context.Context, path string) (file, error) { return digest(path) }) {
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// byPath sorts the results of models that return them in any order.
func byPath(files []file) {
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
}

// pipeline is the pipeline of errgroup's documentation.
func pipeline(ctx context.Context, all iter.Seq[string], digest func(string) (file, error)) (out []file, err error) {
	g, ctx := errgroup.WithContext(ctx)
	paths, files := make(chan string), make(chan file)
	g.Go(func() error {
		defer close(paths)
		for path := range all {
			select {
			case paths <- path:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range 5 {
		g.Go(func() error {
			for path := range paths {
				one, err := digest(path)
				if err != nil {
					return err
				}
				select {
				case files <- one:
				case <-ctx.Done():
					return ctx.Err()
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
		out = append(out, one)
	}
	byPath(out)
	return out, g.Wait()
}

func concPool(ctx context.Context, paths iter.Seq[string], digest func(string) (file, error)) ([]file, error) {
	p := pool.NewWithResults[file]().WithMaxGoroutines(runtime.GOMAXPROCS(0)).WithContext(ctx).WithCancelOnError().WithFirstError()
	for path := range paths {
		p.Go(func(ctx context.Context) (file, error) {
			if err := ctx.Err(); err != nil { // a digest has failed
				return file{}, err
			}
			return digest(path)
		})
	}
	out, err := p.Wait()
	byPath(out)
	return out, err
}

// antsPool also measures the release of the pool: like all models it leaves
// nothing behind.
func antsPool(_ context.Context, paths iter.Seq[string], digest func(string) (file, error)) ([]file, error) {
	p, err := ants.NewPool(runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	var ended sync.WaitGroup
	var mu sync.Mutex
	var out []file
	var first error
	for path := range paths {
		ended.Add(1)
		err := p.Submit(func() {
			defer ended.Done()
			one, err := digest(path)
			mu.Lock()
			defer mu.Unlock()
			out, first = append(out, one), cmp.Or(first, err)
		})
		if err != nil {
			panic(err) // the pool was closed
		}
	}
	ended.Wait()
	byPath(out)
	return out, cmp.Or(first, p.ReleaseTimeout(time.Minute))
}
