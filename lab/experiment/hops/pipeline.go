package hops

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/load"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/stream"
)

// bottlenecks measures three stages on their own goroutines. One takes ten
// times as long as the others and alone determines the time.
func (z sizes) bottlenecks() []experiment.Study {
	const name = "stream-3-stages"
	var out []experiment.Study
	f := keys(z.n(20_000))
	short, long := load.Steps(100*time.Nanosecond), load.Steps(time.Microsecond)
	stage := func(steps int) func(uint64) uint64 {
		return func(key uint64) uint64 { return key + load.Spin(steps) }
	}
	want := f.want + uint64(len(f.in))*(2*load.Spin(short)+load.Spin(long))
	for i, where := range []string{"first", "middle", "last"} {
		stages := []func(uint64) uint64{stage(short), stage(short), stage(short)}
		stages[i] = stage(long)
		c := experiment.Case{Name: "stages=3/bottleneck=" + where, Doc: "an op is a record; stages of 1 µs, 100 ns and 100 ns", Reference: "slowest", Ops: len(f.in), Count: samples}
		c.Models = []experiment.Model{
			f.model(result.Floor.Model("slowest", "the slowest stage alone, in a loop"), f.want+uint64(len(f.in))*load.Spin(long), func(in []uint64) uint64 {
				return loop(in, 1, stage(long), f.fold)
			}),
			f.model(result.Peer.Model("three-in-a-row", "the three stages in a loop"), want, func(in []uint64) uint64 {
				total := uint64(0)
				for _, key := range in {
					total = f.fold(total, stages[2](stages[1](stages[0](key))))
				}
				return total
			}),
			f.model(result.Ours.Model(name, "From, Map, Buffer, Map, Buffer, Map, Reduce"), want, func(in []uint64) uint64 {
				s := stream.Buffer(stream.Map(stream.From(in), stages[0]), bufferSize)
				return sum(stream.Map(stream.Buffer(stream.Map(s, stages[1]), bufferSize), stages[2]), f.fold)
			}),
		}
		out = append(out, experiment.One(c, experiment.AtMost(idealWithin, c.Name, name, "slowest", "")))
	}
	return out
}

// early measures streams that end after ten records.
func (z sizes) early() []experiment.Study {
	const wanted = 10
	c := experiment.Case{Name: fmt.Sprintf("taken=%d", wanted), Doc: fmt.Sprintf("an op is an endless stream that is stopped after %d records", wanted), Reference: "channel-left", Ops: z.n(1000), Count: samples}
	for _, way := range []struct {
		result.Model
		run func(wanted int) uint64
	}{
		{result.Peer.Model("channel-left", "a goroutine that numbers, one that maps, a select with the context a record; the context is cancelled and both are waited for"), takeChannels},
		{result.Ours.Model("stream.All", "FromSeq, ParMap with a Limit of GOMAXPROCS, Buffer, break out of All"), takeAll},
		{result.Ours.Model("stream.Take", "the same, Take, Reduce"), takeStream},
	} {
		c.Models = append(c.Models, experiment.Model{Model: way.Model, Run: func(m *measure.Meter) error { return measureTake(m, wanted, way.run) }})
	}
	return []experiment.Study{experiment.One(c)}
}

// measureTake checks the sum, and that no goroutine continues.
func measureTake(m *measure.Meter, wanted int, run func(int) uint64) error {
	before, wrong := runtime.NumGoroutine(), 0
	m.Start()
	for range m.N {
		if run(wanted) != uint64(wanted*(wanted-1)/2) {
			wrong++
		}
	}
	m.Stop()
	for deadline := time.Now().Add(time.Second); runtime.NumGoroutine() > before && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond) // a goroutine that has announced its end may still be counted
	}
	if left := runtime.NumGoroutine() - before; left > 0 || wrong > 0 {
		return fmt.Errorf("%d of %d streams gave another sum, %d goroutines are left", wrong, m.N, left)
	}
	return nil
}

// numbers yields 0, 1, 2 and so on.
func numbers(yield func(uint64) bool) {
	for i := uint64(0); yield(i); i++ {
	}
}

// endless returns a stream without an end.
func endless() stream.Stream[uint64] {
	return stream.Buffer(stream.ParMap(stream.FromSeq(numbers), identity.task, stint.Limit(procs())), bufferSize)
}

func takeStream(wanted int) uint64 { return sum(stream.Take(endless(), wanted), foldKey) }

func takeAll(wanted int) uint64 {
	total := uint64(0)
	for v, err := range endless().All(context.Background()) {
		total += must(v, err)
		if wanted--; wanted == 0 {
			break
		}
	}
	return total
}

func takeChannels(wanted int) uint64 {
	ctx, cancel := context.WithCancel(context.Background())
	from, to := make(chan uint64), make(chan uint64)
	ended := make(chan struct{}, 2)
	stage := func(seq func(func(uint64) bool), to chan uint64) {
		seq(func(v uint64) bool {
			select {
			case to <- v:
				return true
			case <-ctx.Done():
				return false
			}
		})
		close(to)
		ended <- struct{}{}
	}
	go stage(numbers, from)
	go stage(receiving(from), to)
	total := uint64(0)
	for range wanted {
		total += <-to
	}
	cancel()
	<-ended
	<-ended
	return total
}
