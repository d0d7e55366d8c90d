package stream_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// holds is how many records a boundary may hold.
var holds = map[string]int{
	"ParMap(1)": 2, "ParMap(4)": 8, "ParMap(2)+3": 5, "ParMap": 2 * 256, "Unordered(1)": 2,
	"Buffer(1)": 1, "Buffer(7)": 7, "Buffer(1000)": 1000,
	"Merge": 1024, "Chunk(1,ms)": 1024 + 1,
}

// counted opens an endless source that counts its records.
func counted(t *testing.T, src source[int]) (s ints, pulled *atomic.Int64) {
	pulled = new(atomic.Int64)
	return src.open(t, func(yield func(int) bool) {
		for yield(int(pulled.Add(1))) {
		}
	}), pulled
}

// While the consumer does nothing, the source is read up to a bound, which does not grow with
// time.
func TestStoppedConsumerStopsTheSource(t *testing.T) {
	for _, src := range sources {
		for _, b := range boundaries {
			for _, depth := range []int{1, 3} {
				bubble(t, fmt.Sprint(src.name, "/", b.name, "/", depth), func(t *testing.T) {
					s, pulled := counted(t, src)
					for range depth {
						s = b.add(s)
					}
					all(context.Background(), s, func(n int) bool {
						if n != 5 {
							return false
						}
						time.Sleep(time.Second)
						synctest.Wait()
						soon := pulled.Load()
						if most := int64(5 + depth*(holds[b.name]+1)); soon > most {
							t.Errorf("pulled %d, want %d at most", soon, most)
						}
						time.Sleep(24 * time.Hour)
						equal(t, "pulled a day later", pulled.Load(), soon)
						return true
					})
				})
			}
		}
	}
}

// Buffer(s, n) never holds more than n records, and comes to hold at least half of them.
func TestBufferIsExact(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 255, 257, 1000, 5000} {
		for _, src := range sources[:3] {
			bubble(t, fmt.Sprint(src.name, "/", n), func(t *testing.T) {
				s, pulled := counted(t, src)
				all(context.Background(), stream.Buffer(s, n), func(got int) bool {
					held := pulled.Load() - int64(got)
					if got%10 == 1 {
						time.Sleep(time.Second)
						synctest.Wait()
						held = pulled.Load() - int64(got)
						if held < int64(n+1)/2 {
							t.Errorf("%d records wait, %d may", held, n)
						}
					}
					if held > int64(n) {
						t.Errorf("%d records wait when record %d is consumed", held, got)
					}
					return got > 40
				})
			})
		}
	}
}

// A ParMap whose results nobody takes starts as many calls as limit and queue allow; so does an
// ordered one of which one call blocks.
func TestParMapWaitsForTheConsumer(t *testing.T) {
	for _, c := range [][2]int{{1, 0}, {3, 0}, {3, 5}, {8, 100}, {5, -1}} {
		limit, most := c[0], c[0]+c[1]
		opts := []stint.Option{stint.Limit(limit)}
		if c[1] < 0 {
			most = 2 * limit
		} else {
			opts = append(opts, stint.Queue(c[1]))
		}
		bothOrders(t, fmt.Sprint(c), func(t *testing.T, order ...stint.Option) {
			var g gauge
			s := stream.ParMap(stream.FromSeq(naturals), holding(&g), append(order, opts...)...)
			all(context.Background(), s, func(n int) bool {
				time.Sleep(time.Hour)
				equal(t, fmt.Sprint("started when ", n, " are consumed"), g.Total(), n-1+most)
				return n > 50
			})
		})
		bubble(t, fmt.Sprint(c, "/slow head"), func(t *testing.T) {
			var g gauge
			s := stream.ParMap(stream.FromSeq(naturals), func(_ context.Context, v int) (int, error) {
				g.Hold(time.Millisecond)
				if v == 10 {
					time.Sleep(24 * time.Hour)
					want := 10 + most
					if limit == 1 {
						want = 11 // the only worker is blocked
					}
					equal(t, "started", g.Total(), want)
				}
				return v, nil
			}, opts...)
			gives(t, stream.Take(s, 20), nil, indexes(20))
		})
	}
}
