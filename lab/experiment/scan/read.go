package scan

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"runtime"
	"strconv"
	"time"

	"github.com/stint-go/stint/lab/load"
)

// A nextRecord is the method of a scanner. It returns io.EOF after the last record.
type nextRecord func() (rating, error)

// A decoding says how the files of a table are read, the same for all models of a case.
type decoding struct {
	binary func(io.Reader) nextRecord

	// Steps of load.Spin for a record of each file, beside decoding it.
	binarySteps, csvSteps int
}

func buffered(in io.Reader) *bufio.Reader { return bufio.NewReaderSize(in, 64<<10) }

// reflected decodes with binary.Read, by reflection.
func reflected(in io.Reader) nextRecord {
	in = buffered(in)
	return func() (r rating, err error) {
		err = binary.Read(in, binary.LittleEndian, &r)
		return r, err
	}
}

// byField decodes a record field by field.
func byField(in io.Reader) nextRecord {
	in = buffered(in)
	b := make([]byte, size)
	return func() (rating, error) {
		if _, err := io.ReadFull(in, b); err != nil {
			return rating{}, err
		}
		u32 := binary.LittleEndian.Uint32
		return rating{int32(u32(b)), int32(u32(b[4:])), math.Float32frombits(u32(b[8:])), int64(binary.LittleEndian.Uint64(b[12:]))}, nil
	}
}

// lines decodes lines of CSV.
func lines(in io.Reader) nextRecord {
	c := csv.NewReader(buffered(in))
	c.ReuseRecord, c.FieldsPerRecord = true, 4
	return func() (rating, error) {
		line, err := c.Read()
		if err != nil {
			return rating{}, err
		}
		user, err1 := strconv.ParseInt(line[0], 10, 32)
		movie, err2 := strconv.ParseInt(line[1], 10, 32)
		value, err3 := strconv.ParseFloat(line[2], 32)
		time, err4 := strconv.ParseInt(line[3], 10, 64)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			return rating{}, fmt.Errorf("%q: %w", line, err)
		}
		return rating{int32(user), int32(movie), float32(value), time}, nil
	}
}

// computing computes before each record.
func computing(next nextRecord, steps int) nextRecord {
	return func() (rating, error) {
		runtime.KeepAlive(load.Spin(steps))
		return next()
	}
}

// slow returns a decoding with binary.Read whose records take as long as the author's.
func (t *table) slow(ctx context.Context) (decoding, error) {
	d := decoding{binary: reflected}
	for _, file := range []struct {
		model
		target time.Duration
		steps  *int
	}{{direct, binaryCost, &d.binarySteps}, {csvDirect, csvCost, &d.csvSteps}} {
		fastest := time.Hour // of several, since every disturbance makes a scan slower
		for range 5 {
			began := time.Now()
			if _, err := t.scan(ctx, d, file.model, light); err != nil {
				return d, err
			}
			fastest = min(fastest, time.Since(began))
		}
		*file.steps = load.Steps(file.target - fastest/time.Duration(t.n))
	}
	return d, nil
}

// records yields the records that next returns. It stores an error in failed.
func records(next nextRecord, failed *error) iter.Seq[rating] {
	return func(yield func(rating) bool) {
		for {
			r, err := next()
			if err != nil && err != io.EOF {
				*failed = err
			}
			if err != nil || !yield(r) {
				return
			}
		}
	}
}
