package httplimit

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"unicode/utf8"
)

// nameOf returns the normal form of the host of u, with its port, which the scheme may imply.
func nameOf(u *url.URL) string {
	if u == nil { // Base returns an error
		return ""
	}
	name, port := u.Hostname(), u.Port()
	if strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		name = dialed(name) // before it is in lower case: that makes another name of some letters
	}
	name = strings.TrimSuffix(name, ".")
	if ip, err := netip.ParseAddr(name); err == nil {
		name = ip.Unmap().String() // a zone stays as it is
	} else {
		name = strings.ToLower(name)
	}
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

// dialed returns the name that package http dials for name: in Punycode, and letters that look the
// same are one. It exports no function for that.
func dialed(name string) string {
	t := &http.Transport{DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
		if host, _, err := net.SplitHostPort(address); err == nil {
			name = host
		}
		return nil, net.ErrClosed
	}}
	t.RoundTrip(&http.Request{URL: &url.URL{Scheme: "http", Host: name}, Header: http.Header{}})
	return name
}
