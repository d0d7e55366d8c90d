package httplimit

import (
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
)

// lacksTrailer reports whether net/http may set r.Trailer at the end of the body, since the
// client has not declared its trailers. A copy of r would not see that. If r.Trailer is a map,
// net/http adds to the map.
func lacksTrailer(r *http.Request) bool { return r.Trailer == nil && r.ContentLength < 0 }

// copyBack sets the fields of r that have been set in inner, a copy of r, as if it were r:
// net/http removes the files of r.MultipartForm, and handlers outside log r.Pattern. Other
// fields are not written, since another goroutine may read them.
func copyBack(r, inner *http.Request) {
	copyPattern(r, inner)
	set(&r.Method, inner.Method)
	set(&r.URL, inner.URL)
	set(&r.Proto, inner.Proto)
	set(&r.ProtoMajor, inner.ProtoMajor)
	set(&r.ProtoMinor, inner.ProtoMinor)
	set(&r.ContentLength, inner.ContentLength)
	set(&r.Close, inner.Close)
	set(&r.Host, inner.Host)
	set(&r.RemoteAddr, inner.RemoteAddr)
	set(&r.RequestURI, inner.RequestURI)
	set(&r.TLS, inner.TLS)
	set(&r.MultipartForm, inner.MultipartForm)
	if !sameMap(r.Header, inner.Header) {
		r.Header = inner.Header
	}
	if !sameMap(r.Trailer, inner.Trailer) {
		r.Trailer = inner.Trailer
	}
	if !sameMap(r.Form, inner.Form) {
		r.Form = inner.Form
	}
	if !sameMap(r.PostForm, inner.PostForm) {
		r.PostForm = inner.PostForm
	}
	if !slices.Equal(r.TransferEncoding, inner.TransferEncoding) {
		r.TransferEncoding = inner.TransferEncoding
	}
	if !sameBody(r.Body, inner.Body) {
		r.Body = inner.Body
	}
}

func set[T comparable](field *T, value T) {
	if *field != value {
		*field = value
	}
}

// sameMap reports whether a and b are one map.
func sameMap(a, b map[string][]string) bool {
	return reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer()
}

// sameBody reports whether a and b are known to be one body. Types other than pointers need
// not be comparable.
func sameBody(a, b io.ReadCloser) bool {
	known := a == nil || a == http.NoBody || reflect.TypeOf(a).Kind() == reflect.Pointer
	return known && a == b
}

// copyPattern sets the pattern of r, and the values of its wildcards.
func copyPattern(r, inner *http.Request) {
	if r.Pattern == inner.Pattern {
		return
	}
	r.Pattern = inner.Pattern
	for segment := range strings.SplitSeq(r.Pattern, "/") {
		name, opened := strings.CutPrefix(segment, "{")
		name, closed := strings.CutSuffix(name, "}")
		name = strings.TrimSuffix(name, "...")
		if value := inner.PathValue(name); opened && closed && value != "" {
			r.SetPathValue(name, value)
		}
	}
}
