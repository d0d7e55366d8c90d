package advise

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint"
)

// Calls of a millisecond and more are measured one by one. A round calls some items alone, and
// then each of them again while k calls run at any time, for some limits k. By Little's law the
// throughput at k is k divided by the time of a call, so each item gives a sample of the
// speedup: k times its time alone, divided by its time at k. Items that differ in cost are
// compared with themselves, and a limit costs about the time of one item.
type calls struct {
	*session
	group   *stint.Group
	ended   chan call
	running map[int]bool // by index
	next    int          // the index after the last one that was called
	pass    int
	err     error
}

// A call is a call of f that has ended.
type call struct {
	index, place int // place is that in the items to measure; -1: none
	pass         int
	wall         time.Duration
	err          error
}

const (
	fewest   = 3                      // items of a round
	most     = 30                     // items of a round of short calls
	aloneFor = 500 * time.Millisecond // how long a round of short calls calls them alone
	leastFor = 2 * time.Second        // rounds, even if the answer is clear
	rangeFor = 3 * time.Second        // stint.Range without a number
	cold     = 1.1                    // times the limit: no speedup is larger, unless the first call of an item takes longer
)

// over reports that no more calls should start.
func (c *calls) over(ctx context.Context) bool {
	return c.err != nil || ctx.Err() != nil || !time.Now().Before(c.deadline)
}

func (c *calls) start(index, place int) {
	end := call{index: index, place: place, pass: c.pass, err: stint.ErrGoexit} // or a panic, which Wait raises
	c.running[index] = true
	c.Calls++
	c.group.Go(func(ctx context.Context) error {
		defer func() { c.ended <- end }()
		began := time.Now()
		end.err = c.f(ctx, index)
		end.wall = time.Since(began)
		return end.err
	})
}

// wait waits for the end of a call.
func (c *calls) wait() call {
	end := <-c.ended
	if delete(c.running, end.index); c.err == nil {
		c.err = end.err
	}
	return end
}

func (c *calls) drain() {
	for len(c.running) > 0 {
		c.wait()
	}
}

// fresh returns an index that does not run, in turn, or -1 if there is none.
func (c *calls) fresh() int {
	for range c.N {
		if c.Once && c.next >= c.N {
			break
		}
		i := c.next % c.N
		if c.next++; !c.running[i] {
			return i
		}
	}
	return -1
}

// at calls the items while k calls run at any time, of other items if need be, and returns how
// long each took, or 0 if it was not measured. Others may still run when it returns.
func (c *calls) at(ctx context.Context, k int, items []int) []time.Duration {
	c.pass++
	walls, started := make([]time.Duration, len(items)), make([]bool, len(items))
	choose := func() (index, place int) {
		for place, i := range items {
			if !started[place] && !c.running[i] {
				started[place] = true
				return i, place
			}
		}
		return c.fresh(), -1
	}
	for left := len(items); left > 0; {
		for len(c.running) < k {
			if c.over(ctx) {
				return walls
			}
			index, place := choose()
			if index < 0 {
				return walls
			}
			c.start(index, place)
		}
		if end := c.wait(); end.pass == c.pass && end.place >= 0 && end.err == nil {
			walls[end.place] = end.wall
			left--
		}
	}
	return walls
}

// roundAlone calls fresh items one at a time, and returns how long each took.
func (c *calls) roundAlone(ctx context.Context) (items []int, walls []time.Duration) {
	c.drain()
	for began := time.Now(); len(items) < min(fewest, c.N) || len(items) < min(most, c.N) && time.Since(began) < aloneFor; {
		item := c.fresh()
		if item < 0 {
			break
		}
		if c.again {
			c.at(ctx, 1, []int{item})
		}
		before := c.use()
		wall := c.at(ctx, 1, []int{item})[0]
		if wall == 0 {
			break
		}
		c.alone.add(before, c.use(), wall, 1)
		c.models[0].took(wall)
		items, walls = append(items, item), append(walls, wall)
	}
	return items, walls
}

// atLimit measures a limit, and returns the median of all samples of its speedup.
func (c *calls) atLimit(ctx context.Context, k int, items []int, alone []time.Duration) float64 {
	if c.Once { // other items, and k - 1 that keep them company
		items = nil
		for i := range min(len(alone), c.N-c.next-k+1) {
			items = append(items, c.next+i)
		}
		c.next += len(items)
	}
	m := c.limit(k)
	for i, wall := range c.at(ctx, k, items) {
		if wall > 0 {
			m.add(float64(k) * alone[i].Seconds() / wall.Seconds())
			m.took(wall)
		}
	}
	c.judge()
	return m.Speedup.Median
}

// explore doubles the limit until two steps gain no more. It returns false to be called again.
func (c *calls) explore(ctx context.Context, items []int, alone []time.Duration) bool {
	best, highest := 1.0, c.highest()
	for k, flat := 2, 0; flat < 2 && !c.over(ctx); k = min(2*k, highest) {
		speedup := c.atLimit(ctx, k, items, alone)
		if k == 2 && speedup > cold*2 && !c.again {
			c.again, c.models, c.alone = true, c.models[:1], usage{}
			c.models[0].walls = nil
			return false
		}
		if flat++; speedup >= MinSpeedup*best {
			flat = 0
		}
		if best = max(best, speedup); k >= highest {
			break
		}
	}
	limits, _ := c.limits()
	if knee := int(math.Ceil(best / near)); knee > 2 && knee < choose(limits).Limit && !c.over(ctx) {
		c.atLimit(ctx, knee, items, alone)
	}
	return true
}

// rangeOnce runs stint.Range without a number, for the whole list if that is short.
func (c *calls) rangeOnce(ctx context.Context) {
	c.drain()
	var done, last atomic.Int64
	began := time.Now()
	err := stint.Range(ctx, c.N, func(ctx context.Context, i int) error {
		if time.Since(began) > rangeFor {
			return nil
		}
		defer func() { last.Store(int64(time.Since(began))) }()
		done.Add(1)
		return c.f(ctx, i)
	}, c.auto...)
	if c.Calls += int(done.Load()); c.err == nil {
		c.err = err
	}
	perSecond := float64(done.Load()) / time.Duration(last.Load()).Seconds()
	c.free().add(perSecond * c.alone.wall.Seconds() / float64(c.alone.items))
	c.judge()
}

// measureCalls measures f by calls. Without long, it returns at once if the first call is short.
func (s *session) measureCalls(ctx context.Context) (short bool, err error) {
	c := &calls{session: s, group: stint.NewGroup(ctx, stint.Limit(s.Most)), ended: make(chan call, s.Most), running: map[int]bool{}}
	if wall := c.at(ctx, 1, []int{0})[0]; wall < shortCall && !s.Once && c.err == nil {
		short = true
	} else {
		c.next = 1
		c.measure(ctx)
	}
	return short, c.group.Wait()
}

// measure takes rounds until more cannot change the answer.
func (c *calls) measure(ctx context.Context) {
	began := time.Now()
	for explored := false; !c.over(ctx) && (c.Answer == NotSure || time.Since(began) < leastFor); {
		items, alone := c.roundAlone(ctx)
		if c.judge(); len(items) == 0 || c.N < 2 {
			return
		}
		if explored {
			for _, k := range c.contested() {
				c.atLimit(ctx, k, items, alone)
			}
		} else if explored = c.explore(ctx, items, alone); explored && c.Answer == Yes && !c.Once && !c.over(ctx) {
			c.rangeOnce(ctx)
		}
	}
}

// contested returns the best limit and those beside it.
func (c *calls) contested() (ks []int) {
	limits, _ := c.limits()
	best := choose(limits)
	for i, m := range limits {
		if m == best || i > 0 && limits[i-1] == best || i+1 < len(limits) && limits[i+1] == best {
			ks = append(ks, m.Limit)
		}
	}
	return ks
}
