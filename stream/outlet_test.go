package stream

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// counted is a receiver that counts what it is sent.
type counted struct{ batches, records int }

func (c *counted) acquire(*outlet[int]) (*batch[int], bool) {
	return &batch[int]{state: sealed, items: make([]int, batchSize[int]())}, true
}

func (c *counted) send(b *batch[int]) {
	c.batches++
	c.records += b.n
}

func (c *counted) urge() {}

// A tick makes a slow stage hand on what it has, once: not each record that comes until
// the stages begin the next step.
func TestTickSendsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const records = 10_000
		var c counted
		began := time.Now()
		r, g := start(context.Background())
		o := newOutlet(g, &c)
		slow := Map(From(make([]int, records)), func(v int) int {
			time.Sleep(5 * time.Microsecond)
			return v
		})
		slow.flow(g, g.scope, o.sink())
		o.end(nil)
		r.close()
		ticks := int(time.Since(began) / linger)
		if most := 4*ticks + records/batchSize[int]() + 1; c.records != records || c.batches > most {
			t.Errorf("%d records in %d batches, want %d in %d at most, in %d ticks", c.records, c.batches, records, most, ticks)
		}
	})
}
