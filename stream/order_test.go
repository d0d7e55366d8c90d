package stream_test

import (
	"context"
	"testing"

	"github.com/stint-go/stint/stream"
)

// Every source and stage keeps all records in order, for numbers of records around the sizes of
// batches.
func TestOrderOfEveryStage(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 256, 257, 1025, 3000} {
		everyTerminal(t, func(t *testing.T, run func(context.Context, ints) ([]int, error)) {
			for _, st := range stages {
				out, err := run(context.Background(), st.add(stream.From(indexes(n))))
				equal(t, st.name+": error", err, nil)
				same(t, st.name, out, indexes(n))
				for _, src := range sources {
					out, err := run(context.Background(), st.add(src.open(t, count(n))))
					equal(t, src.name+" "+st.name+": error", err, nil)
					same(t, src.name+" "+st.name, out, indexes(n))
				}
			}
		})
	}
}
