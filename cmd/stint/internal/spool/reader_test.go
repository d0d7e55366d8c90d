package spool

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"
)

func TestReader(t *testing.T) {
	s := on(t, newRAM(1000), blockSize, nil)
	for _, n := range []int{0, 1, minChunk, blockSize, blockSize + 1, 3 * blockSize, 200_001} {
		b, all := s.NewBuffer(), text(n, n)
		for i := 0; i < n; i += 10_000 {
			must(t, b, all[i:min(i+10_000, n)])
		}
		for range 2 {
			if err := iotest.TestReader(b.Reader(), all); err != nil {
				t.Errorf("%d bytes: %v", n, err)
			}
		}
		if b.Len() != int64(n) {
			t.Errorf("%d bytes are kept after reading %d", b.Len(), n)
		}
		audit(t, s, b)
		printed(t, b, all)
	}
	empty(t, s)
}

// TestReaderFollows reads what is written after an end.
func TestReaderFollows(t *testing.T) {
	s := on(t, newRAM(1), 2*minChunk, nil)
	b := s.NewBuffer()
	r := b.Reader()
	all := text(1, 2*minChunk+pageSize)
	var got bytes.Buffer
	for i := range all {
		must(t, b, all[i:i+1])
		if n, err := io.Copy(&got, r); n != 1 || err != nil {
			t.Fatalf("byte %d: %d, %v", i, n, err)
		}
	}
	if !bytes.Equal(got.Bytes(), all) {
		t.Error("the bytes read are not those written")
	}
	printed(t, b, all)
	empty(t, s)
}
