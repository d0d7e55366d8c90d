package stream_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

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
