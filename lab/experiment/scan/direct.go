package scan

import (
	"context"

	"github.com/stint-go/stint/lab/result"
)

// lines reads the text and calls the consumer.
func lines() model {
	return called(nameCSV, "encoding/csv and strconv, the consumer is called", true, func(in input, yield func(rating) bool) error {
		return readCSV(in, yield)
	})
}

// direct reads one record at a time and calls the consumer.
func direct() model {
	return called(nameDirect, "bufio, io.ReadFull of 20 bytes, encoding/binary, the consumer is called", false, input.each)
}

// blocks reads many records at a time and calls the consumer.
func blocks() model {
	block := make([]byte, blockSize)
	return called(nameBlocks, "io.ReadFull of 64 KB, a loop over its records, the consumer is called", false, func(in input, yield func(rating) bool) error {
		return readBlocks(in, func() []byte { return block }, func(b []byte) bool {
			for ; len(b) > 0; b = b[size:] {
				if !yield(decode(b)) {
					return false
				}
			}
			return true
		})
	})
}

func called(name, doc string, text bool, read func(in input, yield func(rating) bool) error) model {
	return model{result.Peer.Model(name, doc), text, func(_ context.Context, in input, use consumer) (tally, error) {
		var t tally
		err := read(in, func(r rating) bool {
			t = use(t, r)
			return true
		})
		return t, err
	}}
}
