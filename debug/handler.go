package debug

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/stint-go/stint"
)

// A Handler is an http.Handler that shows the pools and limiters that were added to
// it. The zero value is ready, and shows none. It may be used by several goroutines at
// once, and must not be copied after the first use.
type Handler struct {
	page page

	mu       sync.Mutex
	pools    map[string]*pool
	limiters map[string]*limiter
}

// A limiter is one that was added. It is another one each time, so that the remove of
// one time knows it from those of others.
type limiter struct{ *stint.Limiter }

// AddPool shows p by that name until remove is called, which may be done more than
// once. The pool may have been closed. It does not block. AddPool panics if the name
// is empty, is not valid UTF-8, or another pool has it; or if p is nil, or was not made
// by NewPool. A limiter may have the same name.
func (h *Handler) AddPool(name string, p *stint.Pool) (remove func()) {
	if p == nil {
		panic("debug: Handler.AddPool: nil pool")
	}
	p.Stats() // panics now rather than in a request
	return add(h, "AddPool", name, &h.pools, &pool{Pool: p})
}

// AddLimiter shows l by that name until remove is called, which may be done more than
// once. It does not block. AddLimiter panics if the name is empty, is not valid UTF-8,
// or another limiter has it; or if l is nil, or was not made by stint.Limit or
// stint.Auto. A pool may have the same name.
func (h *Handler) AddLimiter(name string, l *stint.Limiter) (remove func()) {
	if l == nil {
		panic("debug: Handler.AddLimiter: nil limiter")
	}
	l.Current() // panics now rather than in a request
	return add(h, "AddLimiter", name, &h.limiters, &limiter{l})
}

// add puts an entry into a table of h.
func add[T any](h *Handler, caller, name string, table *map[string]*T, entry *T) (remove func()) {
	if name == "" {
		panic("debug: Handler." + caller + ": empty name")
	}
	if !utf8.ValidString(name) { // two of them may be one in JSON
		panic(fmt.Sprintf("debug: Handler.%s(%q): want valid UTF-8", caller, name))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if (*table)[name] != nil {
		panic(fmt.Sprintf("debug: Handler.%s(%q): the name is taken", caller, name))
	}
	if *table == nil {
		*table = map[string]*T{}
	}
	(*table)[name] = entry
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if (*table)[name] == entry { // not one that was added by that name later
			delete(*table, name)
		}
	}
}

// ServeHTTP answers GET and HEAD with what was added, in the format that the request
// asks for. Another method gets the status 405; a parameter format that is none of
// html, text and json gets 400.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", nothing)
	header.Set("Vary", "Accept")
	header.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, r.Method+" is not allowed: only GET and HEAD are", http.StatusMethodNotAllowed)
		return
	}
	f, err := wanted(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var body bytes.Buffer
	if err := f.write(h, &body, header); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	header.Set("Content-Type", f.media+"; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(body.Len()))
	if r.Method == http.MethodGet {
		w.Write(body.Bytes()) // an error means that who asked is gone
	}
}
