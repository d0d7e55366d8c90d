package scan

import (
	"context"
	"time"

	"github.com/stint-go/stint/lab/load"
)

// work is a table whose consumer computes for each record.
type work struct {
	table
	steps    int
	consumer consumer
}

// costly returns work whose consumer takes as long as reading.
func costly(t *table) (work, error) {
	fastest := time.Hour
	for range 5 {
		began := time.Now()
		if _, err := t.scan(context.Background(), direct(), light); err != nil {
			return work{}, err
		}
		fastest = min(fastest, time.Since(began))
	}
	w := work{table: *t, steps: load.Steps(fastest / time.Duration(t.n))}
	w.consumer = func(t tally, r rating) tally {
		t = light(t, r)
		t.numbers += hash(r, w.steps)
		return t
	}
	w.want = tally{}
	next := random()
	for range t.n {
		w.want = w.consumer(w.want, next())
	}
	return w, nil
}

// hash computes a number from a record in the given number of steps, as
// load.Spin does.
//
//go:noinline
func hash(r rating, steps int) int64 {
	x := uint64(r.User)<<32 ^ uint64(r.Movie) ^ uint64(r.Time)<<16 | 1
	for range steps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return int64(x >> 32)
}
