package cluster

import (
	"math/rand/v2"
	"time"
)

// backoff returns how long to wait before the nth repetition, from 0: first that long,
// then twice as long as before, up to a minute, and a random part less, up to half, so
// that those who failed together do not come back together.
func backoff(first time.Duration, n int) time.Duration {
	const most = time.Minute
	n = min(n, 62)
	if first > most>>n { // what is shifted out counts
		return most - rand.N(most/2)
	}
	d := first << n
	return d - rand.N(d/2+1)
}
