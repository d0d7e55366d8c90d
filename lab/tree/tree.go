// Package tree creates directories of files for experiments. The same tree has
// the same names and contents on every machine.
package tree

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// A Tree describes the files to create.
type Tree struct {
	Seed               uint64
	Large              int // files of LargeSize bytes
	LargeSize          int64
	Small              int // files of SmallMin to SmallMax bytes
	SmallMin, SmallMax int64
}

// Files returns the number of files.
func (t Tree) Files() int { return t.Large + t.Small }

// String describes the tree. MB are millions of bytes.
func (t Tree) String() string {
	return fmt.Sprintf("%d files of %g MB and %d of %g to %g KB", t.Large, float64(t.LargeSize)/1e6,
		t.Small, float64(t.SmallMin)/1e3, float64(t.SmallMax)/1e3)
}

// path returns the path of file i. Large files come first, and both kinds are
// spread over twenty directories: sorted by name they are mixed, so that
// batches of the sorted list are of similar size.
func (t Tree) path(i int) string {
	if i < t.Large {
		return fmt.Sprintf("%02d/large/%04d.bin", i%20, i)
	}
	i -= t.Large
	return fmt.Sprintf("%02d/small/%d/%05d.txt", i%20, i/20%5, i)
}

// Make creates the tree in dir and returns its size in bytes. It stops between
// two files when ctx ends.
func (t Tree) Make(ctx context.Context, dir string) (total int64, err error) {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], t.Seed)
	content := rand.NewChaCha8(key)
	sizes := rand.New(rand.NewPCG(t.Seed, 0))
	for i := range t.Files() {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		size := t.LargeSize
		if i >= t.Large {
			size = t.SmallMin + sizes.Int64N(t.SmallMax-t.SmallMin+1)
		}
		name := filepath.Join(dir, filepath.FromSlash(t.path(i)))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return 0, err
		}
		if err := write(name, io.LimitReader(content, size)); err != nil {
			return 0, err
		}
		total += size
	}
	return total, nil
}

// write creates a file. It syncs large files, so that no writeback happens
// during the runs.
func write(name string, content io.Reader) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, content)
	if err == nil && n >= 1_000_000 {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
