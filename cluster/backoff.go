package cluster

import (
	"math/rand/v2"
	"time"
)

// backoff returns how long to wait before the nth repetition, from 0: first that long,
// then twice as long as before, up to a minute, and a random part less, up to half, so
// that those who failed together do not come back together.
func backoff(first time.Duration, n int) time.Duration {
	d := time.Minute
	if n < 30 && first < d>>n {
		d = first << n
	}
	return d - rand.N(d/2+1)
}
