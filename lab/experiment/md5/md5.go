// Package md5 measures the work of "stint sum" in one process: the digests of
// all files of a directory, in order, while the directory is being walked. The
// experiment sum measures the command itself. The files are written before
// measuring, so that they are in memory.
package md5

import (
	"cmp"
	"context"
	"crypto/md5"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/tree"
)

// Experiment is the experiment md5.
var Experiment = experiment.New("md5", "MD5 of all files below a folder, in order: a pipeline with errgroup, libraries, a call without an option",
	tree.Tree{Seed: 2, Large: 50, LargeSize: 4_000_000, Small: 1250, SmallMin: 1000, SmallMax: 8000},
	tree.Tree{Seed: 2, Large: 25, LargeSize: 200_000, Small: 250, SmallMin: 1000, SmallMax: 8000}, run)

// run measures any tree.
func run(ctx context.Context, s *experiment.Session, t tree.Tree) (*result.Result, error) {
	return s.InFolder("md5", func(dir string) (*result.Result, error) {
		b := s.NewBench("md5", fmt.Sprintf("MD5 of %s", t),
			"An op is the whole folder: it is walked, each regular file is read block by block, and the result is the digests in the order of the walk.",
			"errgroup is the pipeline of its documentation, with five digesters, as in the survey.",
			"The other libraries have the limit GOMAXPROCS. stint.MapSeq has no option.")
		s.Logf("md5: making %s", t)
		bytes, err := t.Make(ctx, dir)
		if err != nil {
			return b.Conclude(err)
		}
		want, err := digests(ctx, dir, digest, sequential)
		if err == nil && len(want) != t.Files() {
			err = fmt.Errorf("%d files were found, want %d", len(want), t.Files())
		}
		if err != nil {
			return b.Conclude(err)
		}
		c := experiment.Case{
			Name: fmt.Sprintf("files=%d/MB=%.3g", t.Files(), float64(bytes)/1e6), Doc: "an op is the whole folder", Reference: models.NameSequential,
			Ops: 1, Count: 6, Main: true, Article: result.Survey, Table: "MD5 of a tree",
		}
		for _, m := range allModels {
			c.Models = append(c.Models, experiment.Op(m.Model, func() error { return m.check(dir, want) }))
		}
		return b.Run(ctx, b.OnBoth(c, func(on experiment.Names) []result.Claim { return models.Unhinted(on, nameMapSeq) }))
	})
}

// check runs a model and compares the digests.
func (m model) check(dir string, want []file) error {
	got, err := digests(context.Background(), dir, digest, m.run)
	if err == nil && !slices.Equal(got, want) {
		err = fmt.Errorf("a run over %d files gave other digests, or in another order", len(want))
	}
	return err
}

// A file is a path with the digest of its contents.
type file struct {
	path string
	sum  [md5.Size]byte
}

// digests returns the regular files of a folder as run finds them, or the first
// error of the walk or of a file.
func digests(ctx context.Context, dir string, digest func(string) (file, error), run way) ([]file, error) {
	var walk error
	out, err := run(ctx, func(yield func(string) bool) {
		walk = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !yield(path) {
				return fs.SkipAll
			}
			return err
		})
	}, digest)
	return out, cmp.Or(err, walk)
}

// digest reads a file block by block.
func digest(path string) (file, error) {
	in, err := os.Open(path)
	if err != nil {
		return file{}, err
	}
	defer in.Close()
	h := md5.New()
	_, err = io.Copy(h, in)
	return file{path, [md5.Size]byte(h.Sum(nil))}, err
}
