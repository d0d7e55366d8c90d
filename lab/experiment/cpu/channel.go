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

// The models of the case about one channel.
const (
	nameShared = "shared"
	nameOwn    = "own"
	nameSelect = "shared-select"
)

// The conclusions of the article about a channel that many goroutines use.
const (
	lockLimits = "The lock of a channel is the bottleneck of a pool: one shared channel gains nothing from more processors, a channel for each worker does, and is faster then."
	selectSlow = "A select on a shared channel is slow with many processors: it takes more time than a plain receive, and more than on one processor (Go issue 20351)."
)

// A handover is a number of senders that hand items which cost nothing to as
// many receivers, over channels of 100.
type handover struct {
	pairs   int
	own     bool // a channel for each pair; otherwise one for all
	selects bool // receivers also wait for a done channel, which all of them share
}

// channelStudy compares one channel with many on one processor, on all, and at
// GOMAXPROCS larger than the number of CPUs.
func channelStudy(b *experiment.Bench, z sizes) experiment.Study {
	pairs := 4 * runtime.NumCPU()
	l := models.List{N: z.sends, Item: models.Key}
	l.Want = l.Sum()
	st := b.OnBoth(experiment.Case{
		Name: fmt.Sprintf("sends=%d", z.sends), Doc: fmt.Sprintf("items that cost nothing, from %d senders to %d receivers", pairs, pairs),
		Reference: nameShared, Ops: z.once, Count: shortSamples, Article: result.Pools, Table: "the lock of a channel",
		Models: l.Models(
			handover{pairs, false, false}.model(nameShared, "one channel of 100 for all"),
			handover{pairs, true, false}.model(nameOwn, "a channel of 100 for each sender and receiver"),
			handover{pairs, false, true}.model(nameSelect, "one channel of 100 for all, received in a select with a done channel for all")),
	}, func(on experiment.Names) []result.Claim {
		if on.All == "" {
			return nil
		}
		return concludes(lockLimits, append(models.OneCPU(1, on, nameShared),
			experiment.Across(1, on.All, on.One, nameOwn, ""), models.Faster(on.All, nameOwn, nameShared))...)
	})
	one, many := st.Cases[0], st.Cases[0]
	many.Processors = 8 * runtime.NumCPU()
	many.Name = fmt.Sprintf("sends=%d/procs=%d", z.sends, many.Processors)
	st.Cases = append(st.Cases, many)
	for _, c := range st.Cases[1:] {
		st.Claims = append(st.Claims, concludes(selectSlow, models.Faster(c.Name, nameShared, nameSelect), experiment.Across(1, one.Name, c.Name, nameSelect, ""))...)
	}
	return st
}

func (h handover) model(name, doc string) models.Model {
	return models.Simple(name, result.Peer, doc, func(l models.List) uint64 {
		ways, done := h.ways(), make(chan struct{})
		var senders, receivers sync.WaitGroup
		var sum atomic.Uint64
		for p, way := range ways {
			senders.Go(func() {
				for i := p; i < l.N; i += h.pairs {
					way <- i
				}
			})
			receivers.Go(func() {
				if h.selects {
					sum.Add(selecting(way, done))
				} else {
					sum.Add(receiving(way))
				}
			})
		}
		senders.Wait()
		for _, way := range slices.Compact(ways) {
			close(way)
		}
		receivers.Wait()
		return sum.Load()
	})
}

// ways returns the channel of each pair.
func (h handover) ways() []chan int {
	out := slices.Repeat([]chan int{make(chan int, 100)}, h.pairs)
	for p := range out {
		if h.own {
			out[p] = make(chan int, 100)
		}
	}
	return out
}

func receiving(items <-chan int) (sum uint64) {
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
