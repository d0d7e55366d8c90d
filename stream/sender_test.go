package stream

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// counted is a destination that counts batches and records.
type counted struct{ batches, records int }

func (c *counted) acquire(*sender[int]) (*batch[int], bool) {
	return &batch[int]{state: sealed, items: make([]int, batchSize[int]())}, true
}

func (c *counted) send(b *batch[int]) {
	c.batches++
	c.records += b.n
}

func (c *counted) notify() {}

// A tick makes a slow stage send what it has once, not record by record until the next step.
func TestTickSendsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const records = 10_000
		var dest counted
		began := time.Now()
		r, c := newRun(context.Background())
		s := newSender(c, &dest)
		slow := Map(From(make([]int, records)), func(v int) int {
			time.Sleep(5 * time.Microsecond)
			return v
		})
		slow.flow(c, c.lifetime, s.sink())
		s.end(nil)
		r.close()
		ticks := int(time.Since(began) / linger)
		if most := 4*ticks + records/batchSize[int]() + 1; dest.records != records || dest.batches > most {
			t.Errorf("%d records in %d batches, want %d in %d at most, in %d ticks", dest.records, dest.batches, records, most, ticks)
		}
	})
}
