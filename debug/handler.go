package debug

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/option"
)

// A Handler is an http.Handler that shows the pools and limiters added to it. The zero value is
// ready for use and shows no pools and limiters. Its methods may be called concurrently. A
// Handler must not be copied after first use.
type Handler struct {
	mu       sync.Mutex
	pools    map[string]*entry[stint.PoolStats]
	limiters map[string]*entry[stint.LimiterStats]
}

// An entry is a pool or a limiter of a Handler. Each Add makes a new one, so that remove does
// not remove a later entry of the same name.
type entry[S any] struct {
	stats func() S
	core  any // what counts the permits: of a pool, that of its limiter
	throughput
}

// AddPool shows p under a name until remove is called. remove may be called more than once. The
// pool may be closed. A limiter may have the same name. AddPool panics if the name is empty,
// not valid UTF-8 or the name of another pool, or if p is nil or was not made by NewPool.
func (h *Handler) AddPool(name string, p *stint.Pool) (remove func()) {
	if p == nil {
		panic("debug: Handler.AddPool: nil pool")
	}
	p.Stats() // panics here, not in a request
	o := option.Collect("debug", "Handler.AddPool", option.Pool, []stint.Option{p})
	return add(h, "AddPool", name, &h.pools, &entry[stint.PoolStats]{stats: p.Stats, core: o.Engine.Limiter()})
}

// AddLimiter shows l under a name, as AddPool shows a pool.
func (h *Handler) AddLimiter(name string, l *stint.Limiter) (remove func()) {
	if l == nil {
		panic("debug: Handler.AddLimiter: nil limiter")
	}
	l.Current() // panics here, not in a request
	o := option.Collect("debug", "Handler.AddLimiter", option.Limiter, []stint.Option{l})
	return add(h, "AddLimiter", name, &h.limiters, &entry[stint.LimiterStats]{stats: l.Stats, core: o.Limiter})
}

// add adds an entry to a table of h.
func add[S any](h *Handler, caller, name string, table *map[string]*entry[S], e *entry[S]) (remove func()) {
	if name == "" || !utf8.ValidString(name) { // two different names could be equal in JSON
		panic(fmt.Sprintf("debug: Handler.%s(%q): want a name in UTF-8", caller, name))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if (*table)[name] != nil {
		panic(fmt.Sprintf("debug: Handler.%s(%q): the name is taken", caller, name))
	}
	if *table == nil {
		*table = map[string]*entry[S]{}
	}
	(*table)[name] = e
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if (*table)[name] == e { // not a later entry of that name
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
	var body bytes.Buffer
	media, err := h.write(&body, header, requested(r))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	header.Set("Content-Type", media+"; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(body.Len()))
	if r.Method == http.MethodGet {
		w.Write(body.Bytes()) // an error means that the client is gone
	}
}

// requested returns the name of the format that a request asks for.
func requested(r *http.Request) string {
	if query := r.URL.Query(); query.Has("format") {
		return query.Get("format")
	}
	accept := strings.ToLower(strings.Join(r.Header.Values("Accept"), ","))
	switch {
	case strings.Contains(accept, "text/html"):
		return "html"
	case strings.Contains(accept, "application/json"):
		return "json"
	case strings.Contains(accept, "version="): // Prometheus wants one of several, and takes 0.0.4
		return "prometheus"
	}
	return "text"
}

// write writes a snapshot in a format, sets the policy of the page, and returns the media type.
func (h *Handler) write(body *bytes.Buffer, header http.Header, format string) (media string, err error) {
	switch s := h.snapshot(); format {
	case "html":
		return "text/html", s.page(body, header)
	case "json":
		e := json.NewEncoder(body)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return "application/json", e.Encode(s)
	case "prometheus":
		s.prometheus(body)
		return "text/plain; version=0.0.4", nil
	case "text":
		s.text(body)
		return "text/plain", nil
	}
	return "", fmt.Errorf("unknown format %q: want html, json, text or prometheus", format)
}
