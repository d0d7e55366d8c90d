package main

import (
	"io"
	"math"
	"net/http"
	"sync"
	"time"
)

// A backend takes the service time for a request while no more than capacity are there at
// once. Beyond that, requests take so much longer that fewer are served per second: four
// times as many take eight times as long.
type backend struct {
	capacity int
	service  time.Duration

	mu           sync.Mutex
	inside, peak int
}

func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	timer := time.NewTimer(b.enter())
	defer timer.Stop()
	defer b.leave() // before the client gets the end of the response
	select {
	case <-timer.C:
		io.WriteString(w, "done\n")
	case <-r.Context().Done():
	}
}

// enter returns how long the request will take.
func (b *backend) enter() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inside++
	b.peak = max(b.peak, b.inside)
	crowd := max(1, float64(b.inside)/float64(b.capacity))
	return time.Duration(float64(b.service) * math.Pow(crowd, 1.5))
}

func (b *backend) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inside--
}

// most returns the most requests that were there at once.
func (b *backend) most() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.peak
}
