package stream_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// The order within a key is that of the stream, and so is the order of the results, or within a
// key under Unordered.
func TestParMapKeyOrder(t *testing.T) {
	for seed := range uint64(20) {
		bothOrders(t, fmt.Sprint(seed), func(t *testing.T, order ...stint.Option) {
			r := rand.New(rand.NewPCG(seed, 2))
			keys, want := make([]int, 300), map[int][]int{}
			for v := range keys {
				keys[v] = r.IntN(1+r.IntN(30)) * r.IntN(2)
				want[keys[v]] = append(want[keys[v]], v)
			}
			var mu sync.Mutex
			called, returned := map[int][]int{}, map[int][]int{}
			f := func(_ context.Context, v int) (int, error) {
				mu.Lock()
				called[keys[v]] = append(called[keys[v]], v)
				mu.Unlock()
				time.Sleep(time.Duration(v%4) * time.Millisecond)
				mu.Lock()
				defer mu.Unlock()
				if c := called[keys[v]]; c[len(c)-1] != v {
					t.Errorf("records %d and %d of key %d at once", v, c[len(c)-1], keys[v])
				}
				return v, nil
			}
			s := stream.ParMapKey(stream.FromSeq(count(300)), func(v int) int { return keys[v] }, f,
				append(order, stint.Limit(1+r.IntN(8)), stint.Queue(r.IntN(20)))...)
			err := stream.Each(context.Background(), s, func(v int) error { returned[keys[v]] = append(returned[keys[v]], v); return nil })
			equal(t, "error", err, nil)
			for k := range want {
				same(t, fmt.Sprint("calls of key ", k), called[k], want[k])
				same(t, fmt.Sprint("results of key ", k), returned[k], want[k])
			}
		})
	}
}
