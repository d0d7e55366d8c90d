package httplimit

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/stint-go/stint/internal/limit"
)

// A host has a limiter when PerHost has returned it.
type host struct {
	turn    chan struct{} // has one while a request looks, and may call PerHost
	made    bool
	limiter *limit.Limiter // may be nil
}

// ofHost returns the limiter for the host of a name. It calls PerHost if nobody has. If
// another request does, ofHost waits for that until ctx ends, and returns its cause. If PerHost
// panics, the next request calls it again.
func (t *Transport) ofHost(ctx context.Context, name string) (*limit.Limiter, error) {
	found, ok := t.hosts.Load(name)
	if !ok {
		found, _ = t.hosts.LoadOrStore(name, &host{turn: make(chan struct{}, 1)})
	}
	h := found.(*host)
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if !h.made {
		if l := t.PerHost(name); l != nil {
			h.limiter = within("Transport: PerHost", l)
		}
		h.made = true
	}
	return h.limiter, nil
}

// nameOf returns the normal form of the host of u, with its port, which the scheme may imply.
func nameOf(u *url.URL) string {
	if u == nil { // Base returns an error
		return ""
	}
	name, port := strings.ToLower(u.Hostname()), u.Port()
	if strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		name = punycode(name)
	}
	name = strings.TrimSuffix(name, ".")
	switch {
	case port != "":
	case u.Scheme == "http":
		port = "80"
	case u.Scheme == "https":
		port = "443"
	default:
		return name
	}
	return net.JoinHostPort(name, port)
}

// punycode returns name in Punycode, or name if that is not possible. Package http exports no
// function for that, but it writes a request's host in Punycode.
func punycode(name string) string {
	var sent bytes.Buffer
	if (&http.Request{Host: name, URL: new(url.URL)}).Write(&sent) != nil {
		return name
	}
	read, err := http.ReadRequest(bufio.NewReader(&sent))
	if err != nil || read.Host == "" {
		return name
	}
	return read.Host
}
