package cluster

import (
	"math/rand/v2"
	"time"
)

// backoff returns how long to wait before the nth retry, from 0: first, doubled n times, at
// most a minute, less a random part of up to half, so that callers that failed together do
// not retry together.
func backoff(first time.Duration, n int) time.Duration {
	const longest = time.Minute
	n = min(n, 62)
	if first > longest>>n { // or the shift below overflows
		return longest - rand.N(longest/2)
	}
	d := first << n
	return d - rand.N(d/2+1)
}
