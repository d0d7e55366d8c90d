package httplimit

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"unicode/utf8"
)

// A making is a call of PerHost for a host. It is in Transport.hosts until PerHost has
// returned a limiter, which then takes its place, or has panicked.
type making struct {
	ended chan struct{} // closed then
}

// ofHost returns the limiter for host, or nil if there is none. It calls PerHost if nobody
// has. If another request does, ofHost waits for that until ctx ends, and returns its cause.
func (t *Transport) ofHost(ctx context.Context, host string) (*limiter, error) {
	for {
		found, ok := t.hosts.Load(host)
		if !ok {
			m := &making{make(chan struct{})}
			if found, ok = t.hosts.LoadOrStore(host, m); !ok {
				return t.makeHost(host, m), nil
			}
		}
		m, ok := found.(*making)
		if !ok {
			return found.(*limiter), nil
		}
		select {
		case <-m.ended:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// makeHost calls PerHost. If that panics, m leaves no trace: the next request calls it again.
func (t *Transport) makeHost(host string, m *making) (made *limiter) {
	returned := false
	defer func() {
		if returned {
			t.hosts.Store(host, made)
		} else {
			t.hosts.Delete(host)
		}
		close(m.ended)
	}()
	if l := t.PerHost(host); l != nil {
		made = limiterOf("Transport: PerHost", l)
	}
	returned = true
	return made
}

// hostOf returns the normal form of the host of u, with its port, which the scheme may imply.
func hostOf(u *url.URL) string {
	if u == nil { // Base returns an error
		return ""
	}
	host, port := hostname(u.Hostname()), strings.TrimLeft(u.Port(), "0")
	switch {
	case port != "":
	case u.Port() != "":
		port = "0"
	case u.Scheme == "http":
		port = "80"
	case u.Scheme == "https":
		port = "443"
	default:
		return strings.TrimSuffix(net.JoinHostPort(host, ""), ":")
	}
	return net.JoinHostPort(host, port)
}

// hostname returns the normal form of a name or an address. A name is in lower case, in
// Punycode, and without a dot at its end. An IPv6 address is as short as possible; its zone
// keeps its case.
func hostname(host string) string {
	if strings.Contains(host, ":") {
		if address, err := netip.ParseAddr(host); err == nil {
			return address.Unmap().String()
		}
	}
	host = strings.ToLower(host)
	if strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) {
		host = punycode(host)
	}
	return strings.TrimSuffix(host, ".")
}

// punycode returns host in Punycode, or host if that is not possible. Package http exports no
// function for that, but it writes a request's host in Punycode.
func punycode(host string) string {
	var sent bytes.Buffer
	if (&http.Request{Host: host, URL: new(url.URL)}).Write(&sent) != nil {
		return host
	}
	read, err := http.ReadRequest(bufio.NewReader(&sent))
	if err != nil || read.Host == "" {
		return host
	}
	return read.Host
}
