package stream_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// A tagged record has the index of the branch that it came through.
type tagged struct{ branch, v int }

// tag merges branches, and tags their records.
func tag(branches []ints, add func(i int, s ints) ints) stream.Stream[tagged] {
	var out []stream.Stream[tagged]
	for i, b := range branches {
		out = append(out, stream.Map(add(i, b), func(v int) tagged { return tagged{i, v} }))
	}
	return stream.Merge(out...)
}

// Each record goes to the branch of its key, and the records of a key stay in order.
func TestPartitionKeepsTheOrderOfAKey(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8, 50} {
		for _, st := range stages {
			bubble(t, fmt.Sprint(n, "/", st.name), func(t *testing.T) {
				const records = 3000
				key := func(v int) uint64 { return uint64(v) * 0x9e3779b97f4a7c15 >> 7 }
				s := tag(stream.Partition(stream.From(indexes(records)), n, key), func(i int, s ints) ints {
					r := rand.New(rand.NewPCG(uint64(i), 1))
					return st.add(stream.Map(s, func(v int) int {
						if r.IntN(10) == 0 {
							time.Sleep(time.Duration(r.IntN(1_000_000)))
						}
						return v
					}))
				})
				got := make([][]int, n)
				err := stream.Each(context.Background(), s, func(l tagged) error { got[l.branch] = append(got[l.branch], l.v); return nil })
				equal(t, "error", err, nil)
				want := make([][]int, n)
				for v := range records {
					b := key(v) % uint64(n)
					want[b] = append(want[b], v)
				}
				for i := range n {
					same(t, fmt.Sprint("branch ", i), got[i], want[i])
				}
			})
		}
	}
}

// A branch that is not consumed is an error at once, not a deadlock; so is a branch consumed twice,
// or in another terminal.
func TestPartitionWantsAllBranchesOnce(t *testing.T) {
	used := func(t *testing.T) ints {
		return stream.FromSeq(func(func(int) bool) { t.Error("pulled") })
	}
	for _, c := range []struct {
		name string
		use  func(b []ints) ints
	}{
		{"one of three", func(b []ints) ints { return b[1] }},
		{"two of three", func(b []ints) ints { return stream.Merge(b[0], b[2]) }},
		{"one twice", func(b []ints) ints { return stream.Merge(b[0], b[1], b[2], b[1]) }},
		{"one instead of another", func(b []ints) ints { return stream.Merge(b[0], b[1], b[1]) }},
		{"behind stages", func(b []ints) ints {
			return parMap(stream.Buffer(stream.Merge(stream.Map(b[0], itself), stream.Take(b[2], 5)), 5), stint.Limit(3))
		}},
		{"deep", func(b []ints) ints {
			return stream.Merge(append(branch(stream.Merge(b[0], b[1]), 2), stream.From(indexes(5)))...)
		}},
	} {
		bubble(t, c.name, func(t *testing.T) {
			for _, x := range terminals {
				out, err := x.run(context.Background(), c.use(branch(used(t), 3)))
				if err == nil || !strings.Contains(err.Error(), "Partition") {
					t.Errorf("%s: error %v", x.name, err)
				}
				equal(t, "records", len(out), 0)
				noneLeft(t)
			}
			equal(t, "time passed", sinceBubble(), 0)
		})
	}
	bubble(t, "the stages of others do not run either", func(t *testing.T) {
		bad := stream.Merge(used(t), stream.Buffer(used(t), 3), branch(used(t), 2)[0])
		_, err := stream.Collect(context.Background(), bad)
		if err == nil {
			t.Error("no error")
		}
	})
}

// A Partition can be run again.
func TestPartitionRunsAgain(t *testing.T) {
	bubble(t, "again", func(t *testing.T) {
		s := stream.Merge(branch(stream.From(indexes(1000)), 4)...)
		for range 3 {
			complete(t, s, 1000)
		}
		complete(t, stream.Filter(stream.Merge(s, stream.From[int](nil)), anyway), 1000)
	})
}

// A branch that ends early drops its records, and the others continue.
func TestPartitionBranchThatEndsEarly(t *testing.T) {
	for _, src := range sources {
		bubble(t, src.name, func(t *testing.T) {
			b := branch(src.open(t, count(3000)), 3)
			out, err := stream.Collect(context.Background(), stream.Merge(stream.Take(b[0], 1), b[1], stream.Take(b[2], 0)))
			equal(t, "error", err, nil)
			want := []int{0}
			for v := range 3000 {
				if v%3 == 1 {
					want = append(want, v)
				}
			}
			slices.Sort(out)
			same(t, "records", out, want)
		})
		bubble(t, src.name+"/all", func(t *testing.T) { // then the source is told
			b := branch(src.open(t, naturals), 2)
			out, err := stream.Collect(context.Background(), stream.Merge(stream.Take(b[0], 10), stream.Take(b[1], 5)))
			equal(t, "error", err, nil)
			equal(t, "records", len(out), 15)
		})
	}
}

// An error behind one branch ends the others; an error before the Partition arrives once, after the
// records before it.
func TestPartitionErrors(t *testing.T) {
	bubble(t, "behind", func(t *testing.T) {
		b := branch(stream.FromSeq(func(yield func(int) bool) {
			for i := 0; yield(i); i++ {
				time.Sleep(time.Second)
			}
		}), 3)
		givesSorted(t, stream.Merge(b[0], stream.MapErr(b[1], failAt(7)), b[2]), errBoom, indexes(7))
	})
	for name, use := range map[string]func(b []ints) ints{
		"in front": func(b []ints) ints { return stream.Merge(b...) },
		"stages between": func(b []ints) ints {
			return stream.Merge(parMap(b[0], stint.Limit(2)), stream.Buffer(b[1], 3), stream.Merge(b[2], stream.From(indexes(0))))
		},
		"a Merge in a Merge": func(b []ints) ints { return stream.Merge(stream.Merge(b[0], b[2]), b[1]) },
		"a Partition behind": func(b []ints) ints { return stream.Merge(append(branch(b[0], 4), b[1], b[2])...) },
	} {
		bubble(t, name, func(t *testing.T) {
			for _, k := range []int{0, 1, 7, 300, 1000} {
				s := use(branch(stream.MapErr(stream.From(indexes(2000)), failAt(k)), 3))
				givesSorted(t, s, errBoom, indexes(k))
			}
		})
	}
}

// Branches run concurrently, and the slowest determines the throughput.
func TestPartitionBranchesRunAtOnce(t *testing.T) {
	bubble(t, "at once", func(t *testing.T) {
		b := branch(stream.FromSeq(count(100)), 4)
		s := tag(b, func(i int, s ints) ints {
			return stream.Map(s, func(v int) int { time.Sleep(time.Duration(i+1) * time.Second); return v })
		})
		n := 0
		err := stream.Each(context.Background(), s, func(tagged) error { n++; return nil })
		equal(t, "error", err, nil)
		equal(t, "records", n, 100)
		equal(t, "time passed", sinceBubble(), 100*time.Second)
	})
}

// A branch may be partitioned again.
func TestPartitionInABranch(t *testing.T) {
	bubble(t, "nested", func(t *testing.T) {
		low := func(v int) uint64 { return uint64(v) & 1 }
		high := func(v int) uint64 { return uint64(v) >> 1 & 1 }
		b := stream.Partition(stream.From(indexes(1000)), 2, low)
		inner := stream.Partition(b[1], 2, high)
		complete(t, stream.Merge(b[0], inner[0], stream.Merge(branch(inner[1], 3)...)), 1000)
		_, err := stream.Collect(context.Background(), stream.Merge(b[0], inner[0]))
		if err == nil {
			t.Error("no error")
		}
		_, err = stream.Collect(context.Background(), stream.Merge(inner[1], inner[0]))
		if err == nil {
			t.Error("no error")
		}
	})
}

// Looking for the partition of an error takes linear time, however many paths lead to it.
func TestErrorBesideNestedPartitions(t *testing.T) {
	bubble(t, "8 deep", func(t *testing.T) {
		silent := stream.FromChan(make(chan int))
		for range 8 {
			silent = stream.Merge(branch(silent, 32)...)
		}
		bad := stream.Merge(branch(stream.MapErr(stream.From(indexes(100)), failAt(50)), 2)...)
		givesSorted(t, stream.Merge(bad, silent), errBoom, indexes(50))
	})
}
