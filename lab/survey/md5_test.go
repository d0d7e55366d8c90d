package survey

import (
	"context"
	"crypto/md5"
	_ "embed" // the source of this file
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/panjf2000/ants/v2"
	"github.com/sourcegraph/conc/pool"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/bench"
	"golang.org/x/sync/errgroup"
)

type (
	sums = map[string][md5.Size]byte
	file struct {
		path string
		sum  [md5.Size]byte
	}
)

// In the article, five goroutines read files, and a pool has the limit 1,000.
const digesters, poolSize = 5, 1000

// BenchmarkMD5All takes the MD5 sums of 960 files of 1 to 9 KB and 40 of a megabyte, which are read as a whole: one
// goroutine walks, five digest, and the caller collects. stint.MapSeq has no option. The lines are those of the function.
func BenchmarkMD5All(b *testing.B) {
	root, tree := b.TempDir(), fstest.MapFS{}
	for i := range 1000 {
		size := 1000 + 8*i
		if i%25 == 0 && !testing.Short() {
			size = 1_000_000
		}
		tree[fmt.Sprintf("%d/%d", i%20, i)] = &fstest.MapFile{Data: []byte(strings.Repeat(fmt.Sprint(i), size/len(fmt.Sprint(i))))}
	}
	bench.Check(os.CopyFS(root, tree))
	want := sums{}
	for name, f := range tree {
		want[filepath.Join(root, name)] = md5.Sum(f.Data)
	}
	for _, m := range []struct {
		name, function string
		sum            func(ctx context.Context, root string) (sums, error)
	}{
		{"goroutines", "md5Goroutines", md5Goroutines}, {"errgroup", "md5Errgroup", md5Errgroup},
		{"conc", "md5Conc", md5Conc}, {"ants", "md5Ants", md5Ants}, {"stint.MapSeq", "md5Stint", md5Stint},
	} {
		b.Run("model="+m.name, func(b *testing.B) {
			bench.Run(b, true, func() bool {
				got, err := m.sum(b.Context(), root)
				return err == nil && maps.Equal(got, want)
			})
			lines := strings.Count(regexp.MustCompile(`(?ms)^func `+m.function+`\(.*?^}`).FindString(source), "\n") + 1
			b.ReportMetric(float64(lines), "lines")
		})
	}
}

//go:embed md5_test.go
var source string

func md5Goroutines(ctx context.Context, root string) (sums, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	found, files := make(chan string), make(chan file)
	check := func(err error) {
		if err != nil {
			cancel(err)
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { check(walk(ctx, root, found)) })
	for range digesters {
		wg.Go(func() { check(digestAll(ctx, found, files)) })
	}
	go func() {
		wg.Wait()
		close(files)
	}()
	m := collect(files)
	return m, context.Cause(ctx)
}

func md5Errgroup(ctx context.Context, root string) (sums, error) {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(poolSize)
	found, files := make(chan string), make(chan file)
	g.Go(func() error { return walk(ctx, root, found) })
	for range digesters {
		g.Go(func() error { return digestAll(ctx, found, files) })
	}
	go func() {
		_ = g.Wait() // again below
		close(files)
	}()
	m := collect(files)
	return m, g.Wait()
}

func md5Conc(ctx context.Context, root string) (sums, error) {
	p := pool.New().WithContext(ctx).WithMaxGoroutines(poolSize).WithCancelOnError().WithFirstError()
	found, files := make(chan string), make(chan file)
	p.Go(func(ctx context.Context) error { return walk(ctx, root, found) })
	for range digesters {
		p.Go(func(ctx context.Context) error { return digestAll(ctx, found, files) })
	}
	var err error
	go func() {
		err = p.Wait()
		close(files)
	}()
	m := collect(files)
	return m, err
}

// md5Ants loses errors, as in the article: ants has no way for them.
func md5Ants(ctx context.Context, root string) (sums, error) {
	found, files := make(chan string), make(chan file)
	walker, err := ants.NewPoolWithFunc(poolSize, func(root any) { _ = walk(ctx, root.(string), found) })
	if err != nil {
		return nil, err
	}
	defer walker.Release()
	if err := walker.Invoke(root); err != nil {
		return nil, err
	}
	p, err := ants.NewPool(poolSize)
	if err != nil {
		return nil, err
	}
	defer p.Release()
	var wg sync.WaitGroup
	for range digesters {
		wg.Add(1)
		err := p.Submit(func() {
			defer wg.Done()
			_ = digestAll(ctx, found, files)
		})
		if err != nil {
			return nil, err
		}
	}
	go func() {
		wg.Wait()
		close(files)
	}()
	return collect(files), nil
}

func md5Stint(ctx context.Context, root string) (sums, error) {
	m := sums{}
	var failed error
	found := func(yield func(string) bool) {
		for path, err := range paths(root) {
			if failed = err; err != nil || !yield(path) {
				return
			}
		}
	}
	for f, err := range stint.MapSeq(ctx, found, func(_ context.Context, path string) (file, error) { return digest(path) }) {
		if err != nil {
			return nil, err
		}
		m[f.path] = f.sum
	}
	return m, failed
}

// paths are those of the regular files below root.
func paths(root string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		_ = filepath.Walk(root, func(path string, info fs.FileInfo, err error) error { // yield has had its error
			if (err != nil || info.Mode().IsRegular()) && !yield(path, err) {
				return fs.SkipAll
			}
			return nil
		})
	}
}

func digest(path string) (file, error) {
	data, err := os.ReadFile(path)
	return file{path, md5.Sum(data)}, err
}

func walk(ctx context.Context, root string, found chan<- string) error {
	defer close(found)
	for path, err := range paths(root) {
		if err == nil {
			err = send(ctx, found, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func digestAll(ctx context.Context, found <-chan string, files chan<- file) error {
	for path := range found {
		f, err := digest(path)
		if err == nil {
			err = send(ctx, files, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func send[T any](ctx context.Context, to chan<- T, v T) error {
	select {
	case to <- v:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func collect(files <-chan file) sums {
	m := sums{}
	for f := range files {
		m[f.path] = f.sum
	}
	return m
}
