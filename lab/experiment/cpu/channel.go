package cpu

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
)

// The models of the cases about one channel.
const (
	nameShared = "shared"
	nameOwn    = "own"
	nameSelect = "shared-select"
)

// channelStudy compares one channel with many on one processor, on all, and at
// GOMAXPROCS larger than the number of CPUs.
func channelStudy(b *experiment.Bench, sends int) experiment.Study {
	pairs := 4 * runtime.NumCPU()
	l := models.List{N: sends, Item: models.Key}
	l.Want = l.Sum()
	st := b.OnBoth(experiment.Case{
		Name: fmt.Sprintf("sends=%d", sends), Doc: fmt.Sprintf("items that cost nothing, from %d senders to %d receivers", pairs, pairs),
		Reference: nameShared, Ops: 1, Count: 10, Article: result.Pools, Table: "the lock of a channel",
		Models: l.Models(
			handover(nameShared, "one channel of 100 for all", 1, pairs, receiving),
			handover(nameOwn, "a channel of 100 for each sender and receiver", pairs, pairs, receiving),
			handover(nameSelect, "one channel of 100 for all, received in a select with a done channel for all", 1, pairs, selecting)),
	}, func(on experiment.Names) []result.Claim {
		return says("The lock of a channel is the bottleneck of a pool: more processors do not make it faster, and a channel for each worker does.",
			models.NoGain(1, on, nameShared), models.All(1, on, nameOwn, nameShared))
	})
	many := st.Cases[0]
	many.Processors = 8 * runtime.NumCPU()
	many.Name = fmt.Sprintf("sends=%d/procs=%d", sends, many.Processors)
	st.Cases = append(st.Cases, many)
	for _, c := range st.Cases[1:] {
		on := experiment.Names{One: st.Cases[0].Name, All: c.Name}
		st.Claims = append(st.Claims, says(
			"A select on a shared channel is slow with many processors: slower than a plain receive, and than on one processor (Go issue 20351).",
			models.All(1, on, nameShared, nameSelect), models.NoGain(1, on, nameSelect))...)
	}
	return st
}

// handover is a number of pairs of a sender and a receiver, over some channels.
func handover(name, doc string, channels, pairs int, receive func(items <-chan int, done <-chan struct{}) uint64) models.Model {
	return models.Simple(name, result.Peer, doc, func(l models.List) uint64 {
		ways, done := make([]chan int, channels), make(chan struct{})
		for i := range ways {
			ways[i] = make(chan int, 100)
		}
		var senders, receivers sync.WaitGroup
		var sum atomic.Uint64
		for p, way := range slices.Repeat(ways, pairs/channels) {
			senders.Go(func() {
				for i := p; i < l.N; i += pairs {
					way <- i
				}
			})
			receivers.Go(func() { sum.Add(receive(way, done)) })
		}
		senders.Wait()
		for _, way := range ways {
			close(way)
		}
		receivers.Wait()
		return sum.Load()
	})
}

func receiving(items <-chan int, _ <-chan struct{}) (sum uint64) {
	for i := range items {
		sum += models.Key(i)
	}
	return sum
}

func selecting(items <-chan int, done <-chan struct{}) (sum uint64) {
	for {
		select {
		case i, ok := <-items:
			if !ok {
				return sum
			}
			sum += models.Key(i)
		case <-done:
			return sum
		}
	}
}
