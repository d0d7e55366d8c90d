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

// reserve is how many ints a ParMap of short calls may hold besides a piece for each
// worker: 256 KiB of records and results, or 16 pieces of 1,024.
const reserve = max(256<<10/(2*bits.UintSize/8), 16<<10)

// holds is how many records a boundary may hold: four batches of 1,024 where nobody has
// chosen, and of a ParMap a piece of as many for each place of its limit and the reserve,
// or what its Queue says.
var holds = map[string]int{
	"ParMap(1)": 1<<10 + reserve, "ParMap(4)": 4<<10 + reserve, "ParMap(2)+3": 5, "ParMap": 2 * 256 << 10, "Unordered(1)": 1<<10 + reserve,
	"Buffer(1)": 1, "Buffer(7)": 7, "Buffer(1000)": 1000,
	"Merge": 4 << 10, "Partition": 4 << 10, "Chunk(1,ms)": 4<<10 + 1,
}

// While the consumer does nothing the source is pulled up to a bound, which does
// not grow with time.
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

// Buffer(s, n) never has more than n records, and comes to have them: with a
// consumer that holds one, n were pulled beyond that.
func TestBufferIsExact(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 255, 256, 257, 1000, 5000} {
		for _, src := range sources[:4] {
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

// An ordered ParMap whose first call does not end begins as many others as its
// limit and its queue let it, and holds no more however long that takes.
func TestSlowHeadBoundsTheWindow(t *testing.T) {
	for _, limit := range []int{1, 2, 5, 100} {
		for _, queue := range []int{0, 1, 7, 1000} {
			bubble(t, fmt.Sprintf("limit=%d/queue=%d", limit, queue), func(t *testing.T) {
				var g gauge
				release := make(chan struct{})
				s := stream.ParMap(stream.FromSeq(func(yield func(int) bool) {
					for i := 0; yield(i); i++ {
					}
				}), func(_ context.Context, v int) (int, error) {
					g.enter()
					defer g.leave()
					if v == 0 {
						<-release
					}
					return v, nil
				}, stint.Limit(limit), stint.Queue(queue))
				go func() {
					most, least := limit+queue, max(limit, (limit+queue)*3/4) // records are let in together
					if limit == 1 {
						most, least = 1, 1 // the only worker is taken
					}
					time.Sleep(time.Hour)
					synctest.Wait()
					soon := g.begun()
					if soon < least || soon > most {
						t.Errorf("%d begun, want %d to %d", soon, least, most)
					}
					time.Sleep(24 * time.Hour)
					synctest.Wait()
					equal(t, "begun a day later", g.begun(), soon)
					close(release)
				}()
				out, err := stream.Collect(context.Background(), stream.Take(s, 5000))
				equal(t, "error", err, nil)
				same(t, "records", out, indexes(5000))
			})
		}
	}
	for _, limit := range []int{2, 5, 100} {
		bubble(t, fmt.Sprintf("limit=%d/default", limit), func(t *testing.T) {
			var g gauge
			release := make(chan struct{})
			s := stream.ParMap(stream.FromSeq(func(yield func(int) bool) {
				for i := 0; yield(i); i++ {
				}
			}), func(_ context.Context, v int) (int, error) {
				g.enter()
				defer g.leave()
				if v == 10_000 {
					<-release
				}
				return v, nil
			}, stint.Limit(limit))
			go func() {
				time.Sleep(time.Hour)
				synctest.Wait()
				soon := g.begun()
				if most := 10_000 + limit*1024 + reserve; soon < 10_000 || soon > most { // pieces of a batch
					t.Errorf("%d begun, at most %d wanted", soon, most)
				}
				time.Sleep(24 * time.Hour)
				equal(t, "begun a day later", g.begun(), soon)
				close(release)
			}()
			out, err := stream.Collect(context.Background(), stream.Take(s, 20_000))
			equal(t, "error", err, nil)
			same(t, "records", out, indexes(20_000))
		})
	}
}

// A ParMap whose results nobody takes begins limit and queue calls more.
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
				s := stream.ParMap(stream.FromSeq(func(yield func(int) bool) {
					for i := 0; yield(i); i++ {
					}
				}), func(_ context.Context, v int) (int, error) { g.hold(time.Millisecond); return v, nil }, opts...)
				all(context.Background(), s, func(n int) bool {
					time.Sleep(time.Second)
					synctest.Wait()
					if most := n + limit + queue; g.begun() > most {
						t.Errorf("%d begun when %d are consumed, want %d at most", g.begun(), n, most)
					}
					return n > 50
				})
			})
		}
	}
}
