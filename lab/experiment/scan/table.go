package scan

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// A rating is a record of the table. Its fields are exported for binary.Read.
type rating struct {
	User, Movie int32
	Value       float32 // whole and half stars, so that sums are exact
	Time        int64
}

// size is the number of bytes of a binary record.
const size = 20

// A table is two files with the same records.
type table struct {
	n           int
	csv, binary string // file names
	want        tally
}

// A tally is the consumer's result.
type tally struct {
	count   int
	numbers int64 // sum of users, movies and times
	values  float64
}

// A consumer adds a record to a tally.
type consumer func(tally, rating) tally

// light counts and adds. It is a variable so that no loop inlines it.
var light consumer = func(t tally, r rating) tally {
	return tally{t.count + 1, t.numbers + int64(r.User) + int64(r.Movie) + r.Time, t.values + float64(r.Value)}
}

// random returns the records of a table one by one, always the same. Users have
// about as many records as in the original table.
func random() func() rating {
	r := rand.New(rand.NewPCG(13, 14))
	user := int32(1)
	return func() rating {
		if r.IntN(144) == 0 {
			user++
		}
		return rating{user, 1 + r.Int32N(131_262), float32(1+r.IntN(10)) / 2, 789_652_009 + r.Int64N(638_131_993)}
	}
}

// write writes a table of n records. It stops when ctx ends.
func write(ctx context.Context, dir, name string, n int) (*table, error) {
	t := &table{n: n, csv: filepath.Join(dir, name+".csv"), binary: filepath.Join(dir, name+".bin")}
	next := random()
	for range n {
		t.want = light(t.want, next())
	}
	return t, errors.Join(
		writeFile(ctx, t.binary, n, func(b []byte, r rating) ([]byte, error) { return binary.Append(b, binary.LittleEndian, r) }),
		writeFile(ctx, t.csv, n, func(b []byte, r rating) ([]byte, error) {
			return fmt.Appendf(b, "%d,%d,%.1f,%d\n", r.User, r.Movie, r.Value, r.Time), nil
		}))
}

// writeFile also syncs the file, so that no writeback happens during the runs.
func writeFile(ctx context.Context, name string, n int, encode func([]byte, rating) ([]byte, error)) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	out, next := bufio.NewWriterSize(f, 1<<20), random()
	var b []byte
	for range n {
		if b, err = encode(b[:0], next()); err == nil {
			_, err = out.Write(b)
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
	}
	return errors.Join(out.Flush(), f.Sync())
}
