package scan

import (
	"bufio"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
)

// A reader yields the records of a table. All models of a table share one
// reader, so that they do the same work.
type reader func(in io.Reader, yield func(rating) bool) error

// blockSize is the size of a read, in whole records.
const blockSize = 65_536 / size * size

// readBinary reads one record at a time.
func readBinary(in io.Reader, yield func(rating) bool) error {
	buffered := bufio.NewReaderSize(in, blockSize)
	record := make([]byte, size)
	for {
		switch _, err := io.ReadFull(buffered, record); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if !yield(decode(record)) {
			return nil
		}
	}
}

// readReflected is readBinary with binary.Read, as in many programs.
func readReflected(in io.Reader, yield func(rating) bool) error {
	buffered := bufio.NewReaderSize(in, blockSize)
	for {
		var r rating
		switch err := binary.Read(buffered, binary.LittleEndian, &r); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if !yield(r) {
			return nil
		}
	}
}

// readBlocks yields blocks of encoded records. fresh returns the buffer to read
// into.
func readBlocks(in io.Reader, fresh func() []byte, yield func([]byte) bool) error {
	for {
		block := fresh()
		n, err := io.ReadFull(in, block)
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF) && n%size == 0:
		case err != nil:
			return err
		}
		if !yield(block[:n]) || n < len(block) {
			return nil
		}
	}
}

// decoded yields the records of a block.
func decoded(block []byte) iter.Seq[rating] {
	return func(yield func(rating) bool) {
		for ; len(block) > 0; block = block[size:] {
			if !yield(decode(block)) {
				return
			}
		}
	}
}

// readCSV reads one line at a time.
func readCSV(in io.Reader, yield func(rating) bool) error {
	lines := csv.NewReader(bufio.NewReaderSize(in, blockSize))
	lines.ReuseRecord, lines.FieldsPerRecord = true, 4
	for {
		line, err := lines.Read()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		r, err := parse(line)
		if err != nil {
			return err
		}
		if !yield(r) {
			return nil
		}
	}
}

func parse(line []string) (r rating, err error) {
	user, err1 := strconv.ParseInt(line[0], 10, 32)
	movie, err2 := strconv.ParseInt(line[1], 10, 32)
	value, err3 := strconv.ParseFloat(line[2], 32)
	time, err4 := strconv.ParseInt(line[3], 10, 64)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return rating{}, fmt.Errorf("%q: %w", line, err)
	}
	return rating{int32(user), int32(movie), float32(value), time}, nil
}
