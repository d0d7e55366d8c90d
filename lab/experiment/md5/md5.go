// Package md5 measures the work of "stint sum" in one process: the digests of
// all files of a directory, in order, while the directory is being walked. The
// experiment sum measures the command itself. The files are written before
// measuring, so that they are in memory.
package md5

import (
	"context"
	"crypto/md5"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/tree"
)

// Experiment is the experiment md5.
var Experiment = experiment.New("md5", "MD5 of all files below a folder, in order: the pipeline of errgroup's documentation, libraries, calls without an option",
	tree.Tree{Seed: 2, Large: 50, LargeSize: 4_000_000, Small: 1250, SmallMin: 1000, SmallMax: 8000},
	tree.Tree{Seed: 2, Large: 25, LargeSize: 200_000, Small: 250, SmallMin: 1000, SmallMax: 8000}, run)

// samples give an interval. One takes a third of a second.
const samples = 6

// run measures any tree.
func run(ctx context.Context, s *experiment.Session, t tree.Tree) (*result.Result, error) {
	return s.InFolder("md5", func(dir string) (*result.Result, error) { return runIn(ctx, s, dir, t) })
}

// runIn creates the files in dir and measures.
func runIn(ctx context.Context, s *experiment.Session, dir string, t tree.Tree) (*result.Result, error) {
	b := s.NewBench("md5", fmt.Sprintf("MD5 of %s", t),
		"An op is the whole folder: it is walked, each regular file is read block by block, and the result is the paths with their digests in the order of the walk.",
		"Files are read while the folder is walked, except by sequential, which alternates, and stint.Map, which receives all paths.",
		"errgroup-5 has five digesters, as in the documentation that it is from. The other libraries have the limit GOMAXPROCS. stint.MapSeq, stint.Map and stream.ParMap have no option.")
	s.Logf("md5: making %s", t)
	bytes, err := t.Make(ctx, dir)
	if err != nil {
		return b.Conclude(err)
	}
	want, err := known(dir)
	if err != nil {
		return b.Conclude(err)
	}
	if len(want) != t.Files() {
		return b.Conclude(fmt.Errorf("%d files were found, want %d", len(want), t.Files()))
	}
	c := experiment.Case{Name: fmt.Sprintf("files=%d/MB=%.3g", t.Files(), float64(bytes)/1e6), Doc: "an op is the whole folder", Reference: models.NameSequential, Ops: 1, Count: samples, Main: true}
	for _, m := range allModels {
		c.Models = append(c.Models, experiment.Model{Model: m.Model, Run: func(meter *measure.Meter) error {
			return m.measure(meter, folder{dir, digest}, bytes, want)
		}})
	}
	return b.Run(ctx, b.OnBoth(c, claims))
}

// known returns the digests of the files in dir, computed independently of the
// models.
func known(dir string) ([]File, error) {
	var out []File
	files := os.DirFS(dir)
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		out = append(out, File{filepath.Join(dir, name), md5.Sum(text)})
		return err
	})
	return out, err
}

// measure runs the model and compares the digests.
func (m model) measure(meter *measure.Meter, f folder, bytes int64, want []File) error {
	wrong := 0
	meter.Start()
	for range meter.N {
		got, err := m.run(context.Background(), f)
		if err != nil {
			return err
		}
		if !slices.Equal(got, want) {
			wrong++
		}
	}
	meter.Stop()
	if wrong > 0 {
		return fmt.Errorf("%d of %d runs over %d files gave other digests, or in another order", wrong, meter.N, len(want))
	}
	meter.Report(measure.Rate, float64(bytes)*1e3/meter.Sample()[measure.Time])
	return nil
}

// claims returns our claims. The survey that the experiment is from compares
// features only.
func claims(on experiment.Names) []result.Claim {
	return models.Unhinted(on, nameMapSeq, models.NameMap, nameParMap)
}
