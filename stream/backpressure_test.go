package stream_test

import (
	"context"
	"fmt"
	"math/bits"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// reserve is how many ints a ParMap of short calls may hold besides one task for each worker:
// 256 KiB of records and results, or 16 tasks of 1,024.
const reserve = max(256<<10/(2*bits.UintSize/8), 16<<10)

// holds is how many records a boundary may hold: four batches of 1,024 by default, a task of
// 1,024 for each permit and the reserve in a ParMap, or as its Queue says.
var holds = map[string]int{
	"ParMap(1)": 1<<10 + reserve, "ParMap(4)": 4<<10 + reserve, "ParMap(2)+3": 5, "ParMap": 2 * 256 << 10, "Unordered(1)": 1<<10 + reserve,
	"Buffer(1)": 1, "Buffer(7)": 7, "Buffer(1000)": 1000,
	"Merge": 4 << 10, "Chunk(1,ms)": 4<<10 + 1,
}

// While the consumer does nothing, the source is read up to a bound, which does not grow with
// time.
func TestStoppedConsumerStopsTheSource(t *testing.T) {
	for _, src := range sources {
		for _, b := range boundaries {
			for _, depth := range []int{1, 3} {
				bubble(t, fmt.Sprint(src.name, "/", b.name, "/", depth), func(t *testing.T) {
					var pulled atomic.Int64
					s := src.open(t, func(yield func(int) bool) {
						for yield(int(pulled.Add(1))) {
						}
					})
					for range depth {
						s = b.add(s)
					}
					all(context.Background(), s, func(n int) bool {
						if n != 5 {
							return false
						}
						synctest.Wait()
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

// Buffer(s, n) never holds more than n records, and does come to hold them.
func TestBufferIsExact(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 255, 256, 257, 1000, 5000} {
		for _, src := range sources[:3] {
			bubble(t, fmt.Sprint(src.name, "/", n), func(t *testing.T) {
				var pulled atomic.Int64
				s := stream.Buffer(src.open(t, func(yield func(int) bool) {
					for yield(int(pulled.Add(1))) {
					}
				}), n)
				all(context.Background(), s, func(got int) bool {
					if most := int64(got + n); pulled.Load() > most {
						t.Errorf("pulled %d when record %d is consumed", pulled.Load(), got)
					}
					if got%10 != 1 {
						return false
					}
					time.Sleep(time.Second)
					synctest.Wait()
					if most := int64(got + n); pulled.Load() > most {
						t.Errorf("pulled %d when record %d has been consumed for a second", pulled.Load(), got)
					}
					return got > 40
				})
			})
		}
	}
	for _, n := range []int{1, 2, 10} { // the source is let go on, record by record
		bubble(t, fmt.Sprint("fills/", n), func(t *testing.T) {
			var pulled atomic.Int64
			s := stream.Buffer(stream.FromSeq(func(yield func(int) bool) {
				for yield(int(pulled.Add(1))) {
				}
			}), n)
			all(context.Background(), s, func(got int) bool {
				time.Sleep(time.Second)
				synctest.Wait()
				if is := pulled.Load() - int64(got); is < int64(n+1)/2 {
					t.Errorf("%d records wait, %d may", is, n)
				}
				return got > 40
			})
		})
	}
}

// When one call of an ordered ParMap blocks, as many others start as its limit and its
// queue allow, or what it documents for short calls, and no more later.
func TestSlowHeadBoundsTheWindow(t *testing.T) {
	test := func(name string, blocked, least, most, records int, opts ...stint.Option) {
		bubble(t, name, func(t *testing.T) {
			var g gauge
			release := make(chan struct{})
			s := stream.ParMap(stream.FromSeq(naturals), func(_ context.Context, v int) (int, error) {
				g.Enter()
				defer g.Leave()
				if v == blocked {
					<-release
				}
				return v, nil
			}, opts...)
			go func() {
				time.Sleep(time.Hour)
				synctest.Wait()
				soon := g.Total()
				if soon < least || soon > most {
					t.Errorf("%d started, want %d to %d", soon, least, most)
				}
				time.Sleep(24 * time.Hour)
				synctest.Wait()
				equal(t, "started a day later", g.Total(), soon)
				close(release)
			}()
			gives(t, stream.Take(s, records), nil, indexes(records))
		})
	}
	for _, limit := range []int{1, 2, 5, 100} {
		for _, queue := range []int{0, 1, 7, 1000} {
			most, least := limit+queue, max(limit, (limit+queue)*3/4) // records are admitted together
			if limit == 1 {
				most, least = 1, 1 // the only worker is blocked
			}
			test(fmt.Sprintf("limit=%d/queue=%d", limit, queue), 0, least, most, 5000, stint.Limit(limit), stint.Queue(queue))
		}
	}
	for _, limit := range []int{2, 5, 100} {
		most := 10_000 + limit*1024 + reserve // tasks of a batch
		test(fmt.Sprintf("limit=%d/default", limit), 10_000, 10_000, most, 20_000, stint.Limit(limit))
	}
}

// A ParMap whose results nobody takes starts as many calls as limit and queue allow.
func TestParMapWaitsForTheConsumer(t *testing.T) {
	for _, unordered := range []bool{false, true} {
		for _, c := range [][2]int{{1, 0}, {3, 0}, {3, 5}, {8, 100}} {
			limit, queue := c[0], c[1]
			bubble(t, fmt.Sprint(unordered, c), func(t *testing.T) {
				opts := []stint.Option{stint.Limit(limit), stint.Queue(queue)}
				if unordered {
					opts = append(opts, stint.Unordered())
				}
				var g gauge
				s := stream.ParMap(stream.FromSeq(naturals), func(_ context.Context, v int) (int, error) { g.Hold(time.Millisecond); return v, nil }, opts...)
				all(context.Background(), s, func(n int) bool {
					time.Sleep(time.Second)
					synctest.Wait()
					if most := n + limit + queue; g.Total() > most {
						t.Errorf("%d started when %d are consumed, want %d at most", g.Total(), n, most)
					}
					return n > 50
				})
			})
		}
	}
}
