package stream_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stint-go/stint/stream"
)

// Every source and stage keeps all records in order, for numbers of records around the sizes of
// batches.
func TestOrderOfEveryStage(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 256, 257, 1025, 3000} {
		everyStage(t, fmt.Sprint(n), func(t *testing.T, st stage, x terminal) {
			out, err := x.run(context.Background(), st.add(stream.From(indexes(n))))
			equal(t, x.name+": error", err, nil)
			same(t, x.name, out, indexes(n))
			for _, src := range sources {
				out, err := x.run(context.Background(), st.add(src.open(t, count(n))))
				equal(t, src.name+" "+x.name+": error", err, nil)
				same(t, src.name+" "+x.name, out, indexes(n))
			}
		})
	}
}
