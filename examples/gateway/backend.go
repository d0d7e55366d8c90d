package main

import (
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// A backend is fast for up to capacity requests at once. Twice as many take four times as
// long each, and so on: the more requests there are, the fewer it serves per second.
type backend struct {
	capacity int
	service  time.Duration // of a request, unless it is crowded
	inside   atomic.Int64
}

func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	crowd := max(1, float64(b.inside.Add(1))/float64(b.capacity))
	defer b.inside.Add(-1) // before the client gets the end of the response
	timer := time.NewTimer(time.Duration(crowd * crowd * float64(b.service)))
	defer timer.Stop()
	select {
	case <-timer.C:
		io.WriteString(w, "done\n")
	case <-r.Context().Done():
	}
}
