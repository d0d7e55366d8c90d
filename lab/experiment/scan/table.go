package scan

import (
	"bufio"
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
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
	read        reader // of a binary record
}

// A tally is the consumer's result.
type tally struct {
	count   int
	numbers int64 // sum of users, movies and times
	values  float64
}

// plus adds two tallies.
func (t tally) plus(u tally) tally {
	return tally{t.count + u.count, t.numbers + u.numbers, t.values + u.values}
}

// A consumer adds a record to a tally.
type consumer func(tally, rating) tally

// light is the consumer of the article. It is a variable so that no loop
// inlines it.
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
func write(ctx context.Context, dir, name string, n int) (t *table, err error) {
	t = &table{n: n, csv: filepath.Join(dir, name+".csv"), binary: filepath.Join(dir, name+".bin"), read: readBinary}
	text, err := create(t.csv)
	if err != nil {
		return nil, err
	}
	defer text.close(&err)
	bytes, err := create(t.binary)
	if err != nil {
		return nil, err
	}
	defer bytes.close(&err)
	next := random()
	var line []byte
	for i := range n {
		if i%(1<<16) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r := next()
		t.want = light(t.want, r)
		line = r.encode(line[:0])
		bytes.Write(line)
		line = r.text(line[:0])
		text.Write(line)
	}
	return t, nil
}

// encode appends the binary form of a record.
func (r rating) encode(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(r.User))
	b = binary.LittleEndian.AppendUint32(b, uint32(r.Movie))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(r.Value))
	return binary.LittleEndian.AppendUint64(b, uint64(r.Time))
}

// decode is the reverse of encode.
func decode(b []byte) rating {
	_ = b[size-1]
	return rating{
		User:  int32(binary.LittleEndian.Uint32(b)),
		Movie: int32(binary.LittleEndian.Uint32(b[4:])),
		Value: math.Float32frombits(binary.LittleEndian.Uint32(b[8:])),
		Time:  int64(binary.LittleEndian.Uint64(b[12:])),
	}
}

// text appends the CSV form of a record.
func (r rating) text(b []byte) []byte {
	b = append(strconv.AppendInt(b, int64(r.User), 10), ',')
	b = append(strconv.AppendInt(b, int64(r.Movie), 10), ',')
	b = append(strconv.AppendFloat(b, float64(r.Value), 'f', 1, 32), ',')
	return append(strconv.AppendInt(b, r.Time, 10), '\n')
}

// A file has a buffer, which keeps the first error.
type file struct {
	*bufio.Writer
	under *os.File
}

func create(name string) (file, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return file{}, err
	}
	return file{bufio.NewWriterSize(f, 1<<20), f}, nil
}

// close flushes, syncs and closes the file, so that no writeback happens during
// the runs. It sets err if that is nil.
func (f file) close(err *error) {
	for _, end := range []func() error{f.Flush, f.under.Sync, f.under.Close} {
		if e := end(); *err == nil {
			*err = e
		}
	}
}
