package sum

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// A tree is what to make a folder of files of. The same tree gives the same
// names and contents on every machine.
type tree struct {
	seed               uint64
	large              int   // files of largeSize bytes
	largeSize          int64 //
	small              int   // files of smallMin to smallMax bytes
	smallMin, smallMax int64
}

// full is the tree that the claims are about: 800 MB in large files, and as
// many small ones as make opening and reading them count.
func full() tree {
	return tree{seed: 1, large: 200, largeSize: 4_000_000, small: 5000, smallMin: 1000, smallMax: 8000}
}

// quick is a tenth of it.
func quick() tree {
	t := full()
	t.large /= 10
	t.small /= 10
	return t
}

func (t tree) files() int { return t.large + t.small }

// String says what is in the tree. MB are millions of bytes.
func (t tree) String() string {
	return fmt.Sprintf("%d files of %g MB and %d of %g to %g KB", t.large, float64(t.largeSize)/1e6,
		t.small, float64(t.smallMin)/1e3, float64(t.smallMax)/1e3)
}

// path is where file i of the tree is. Large files come before small ones, and
// both are dealt out to twenty folders: sorted by name they are mixed, so that
// models which cut the sorted list into batches get even ones.
func (t tree) path(i int) string {
	if i < t.large {
		return filepath.Join(fmt.Sprintf("%02d", i%20), "large", fmt.Sprintf("%04d.bin", i))
	}
	i -= t.large
	return filepath.Join(fmt.Sprintf("%02d", i%20), "small", strconv.Itoa(i/20%5), fmt.Sprintf("%05d.txt", i))
}

// make writes the tree below dir and returns how many bytes it holds. It stops
// between two files when ctx ends.
func (t tree) make(ctx context.Context, dir string) (total int64, err error) {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], t.seed)
	content := rand.NewChaCha8(key)
	sizes := rand.New(rand.NewPCG(t.seed, 0))
	for i := range t.files() {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		size := t.largeSize
		if i >= t.large {
			size = t.smallMin + sizes.Int64N(t.smallMax-t.smallMin+1)
		}
		name := filepath.Join(dir, t.path(i))
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

// write writes a new file. A large one is on the disk when write returns, so
// that writing it back does not go on during the runs.
func write(name string, content io.Reader) (err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	n, err := io.Copy(f, content)
	if err == nil && n >= 1_000_000 {
		err = f.Sync()
	}
	return err
}
