package debug

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/option"
)

// A Handler is an http.Handler that shows the pools and limiters added to it. The zero
// value is ready for use and shows none. Its methods may be called concurrently. A Handler
// must not be copied after first use.
type Handler struct {
	page page

	mu       sync.Mutex
	pools    map[string]*pool
	limiters map[string]*limiter
}

// A limiter is an entry of a Handler. Each AddLimiter makes a new one, so that remove does
// not remove a later entry with the same Limiter.
type limiter struct {
	*stint.Limiter
	core any // what counts its permits
	series
}

// AddPool shows p under a name until remove is called, which may be called more than once.
// The pool may be closed, and a limiter may have the same name. AddPool does not block. It
// panics if the name is empty, not valid UTF-8 or the name of another pool, or if p is nil or
// was not made by NewPool.
func (h *Handler) AddPool(name string, p *stint.Pool) (remove func()) {
	if p == nil {
		panic("debug: Handler.AddPool: nil pool")
	}
	p.Stats() // panics here, not in a request
	o := option.Collect("debug", "Handler.AddPool", option.Pool, []stint.Option{p})
	return add(h, "AddPool", name, &h.pools, &pool{Pool: p, core: o.Engine.Limiter()})
}

// AddLimiter shows l under a name until remove is called, which may be called more than
// once. A pool may have the same name. AddLimiter does not block. It panics if the name is
// empty, not valid UTF-8 or the name of another limiter, or if l is nil or was not made by
// stint.Limit or stint.Auto.
func (h *Handler) AddLimiter(name string, l *stint.Limiter) (remove func()) {
	if l == nil {
		panic("debug: Handler.AddLimiter: nil limiter")
	}
	l.Current() // panics here, not in a request
	o := option.Collect("debug", "Handler.AddLimiter", option.Limiter, []stint.Option{l})
	return add(h, "AddLimiter", name, &h.limiters, &limiter{Limiter: l, core: o.Limiter})
}

// add adds an entry to a table of h.
func add[T any](h *Handler, caller, name string, table *map[string]*T, entry *T) (remove func()) {
	if name == "" {
		panic("debug: Handler." + caller + ": empty name")
	}
	if !utf8.ValidString(name) { // two different names could be equal in JSON
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
		if (*table)[name] == entry { // not a later entry of that name
			delete(*table, name)
		}
	}
}

// ServeHTTP answers GET and HEAD in the format that the request asks for. It answers other
// methods with status 405, and unknown formats with 400.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", loadNothing)
	header.Set("Vary", "Accept")
	header.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, r.Method+" is not allowed: only GET and HEAD are", http.StatusMethodNotAllowed)
		return
	}
	f, err := requested(r)
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
		w.Write(body.Bytes()) // an error means that the client is gone
	}
}
