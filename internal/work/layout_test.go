package work

import (
	"reflect"
	"testing"
)

// What a worker touches for each task lies in one cache line; workers begin at one.
func TestLayout(t *testing.T) {
	const line = 64
	w := reflect.TypeFor[worker]()
	own, _ := w.FieldByName("own")
	if reflect.TypeFor[uintptr]().Size() != 8 {
		t.Skip("the sizes are those of 64 bits")
	}
	if w.Size() != 3*line {
		t.Errorf("a worker has %d bytes", w.Size())
	}
	if own.Offset+4 > line {
		t.Errorf("a worker's slot is at %d", own.Offset)
	}
}
