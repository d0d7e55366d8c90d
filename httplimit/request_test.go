package httplimit_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/httplimit"
	"github.com/stint-go/stint/internal/testkit"
)

// under returns h without a limit, and under one.
func under(h http.Handler) map[string]http.Handler {
	return map[string]http.Handler{"plain": h, "limited": httplimit.Handler(h, stint.Limit(1), 0)}
}

// fields are the fields of a server's request, and how a handler may set them.
var fields = map[string]func(*http.Request){
	"Method":           func(r *http.Request) { r.Method = "PUT" },
	"URL":              func(r *http.Request) { r.URL = new(url.URL) },
	"Proto":            func(r *http.Request) { r.Proto = "HTTP/9.8" },
	"ProtoMajor":       func(r *http.Request) { r.ProtoMajor = 9 },
	"ProtoMinor":       func(r *http.Request) { r.ProtoMinor = 8 },
	"Header":           func(r *http.Request) { r.Header = http.Header{"A": {"b"}} },
	"Body":             func(r *http.Request) { r.Body = uncomparable{func() {}} },
	"ContentLength":    func(r *http.Request) { r.ContentLength = 9 },
	"TransferEncoding": func(r *http.Request) { r.TransferEncoding = []string{"chunked"} },
	"Close":            func(r *http.Request) { r.Close = true },
	"Host":             func(r *http.Request) { r.Host = "b.example" },
	"Form":             func(r *http.Request) { r.ParseForm() },
	"PostForm":         func(r *http.Request) { r.PostForm = url.Values{"a": {"b"}} },
	"MultipartForm":    func(r *http.Request) { r.MultipartForm = new(multipart.Form) },
	"Trailer":          func(r *http.Request) { r.Trailer = http.Header{"A": {"b"}} },
	"RemoteAddr":       func(r *http.Request) { r.RemoteAddr = "1.2.3.4:5" },
	"RequestURI":       func(r *http.Request) { r.RequestURI = "/b" },
	"TLS":              func(r *http.Request) { r.TLS = new(tls.ConnectionState) },
	"Pattern":          func(r *http.Request) { r.Pattern = "/{b}" },
	"GetBody":          nil, // of clients
	"Cancel":           nil,
	"Response":         nil,
}

// uncomparable is a body that == panics for.
type uncomparable struct{ f func() }

func (uncomparable) Read([]byte) (int, error) { return 0, io.EOF }
func (uncomparable) Close() error             { return nil }

// What next sets in its request is set in the request of the handler outside, as without a
// limit, and the context of that is as it was.
func TestHandlerShowsWhatNextSets(t *testing.T) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[http.Request]()) {
		set, known := fields[f.Name]
		if f.IsExported() && !known {
			t.Errorf("the field %s of http.Request is not in the table", f.Name)
		}
		if set == nil {
			continue
		}
		for _, leave := range []func(){func() {}, func() { panic("left") }} {
			want := httptest.NewRequest("POST", "/a?b=c", strings.NewReader("x"))
			set(want)
			for name, h := range under(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { set(r); leave() })) {
				got := httptest.NewRequest("POST", "/a?b=c", strings.NewReader("x"))
				ctx := got.Context()
				testkit.Recovered(func() { h.ServeHTTP(httptest.NewRecorder(), got) })
				field := func(r *http.Request) string {
					return fmt.Sprintf("%T %+[1]v", reflect.ValueOf(r).Elem().FieldByIndex(f.Index).Interface())
				}
				if f.Name != "Body" {
					testkit.Equal(t, name+": "+f.Name, field(got), field(want))
				} else if _, ok := got.Body.(uncomparable); !ok {
					t.Errorf("%s: the body is a %T", name, got.Body)
				}
				testkit.Equal(t, "the context", got.Context(), ctx)
			}
		}
	}
}

// A handler outside sees the pattern and the path values of a ServeMux inside.
func TestHandlerShowsPathValues(t *testing.T) {
	for pattern, want := range map[string]string{
		"/a/{x}/c/{y...}":         "x=b y=d/e",
		"GET /a/{x}/":             "x=b y=",
		"POST /{y}/{x}/c/d/e/{$}": "x= y=", // no match
		"example.com/a/b/{y...}":  "x= y=c/d/e",
	} {
		mux := http.NewServeMux()
		mux.HandleFunc(pattern, func(http.ResponseWriter, *http.Request) {})
		for name, h := range under(mux) {
			r := httptest.NewRequest("GET", "/a/b/c/d/e", nil)
			h.ServeHTTP(httptest.NewRecorder(), r)
			matched := pattern
			if strings.HasPrefix(pattern, "POST") {
				matched = ""
			}
			testkit.Equal(t, name+": pattern", r.Pattern, matched)
			testkit.Equal(t, name+": values of "+pattern, fmt.Sprintf("x=%s y=%s", r.PathValue("x"), r.PathValue("y")), want)
		}
	}
}

// A request that next does not change is not written to: others may read it meanwhile. The
// race detector tells.
func TestHandlerWritesNothing(t *testing.T) {
	l := stint.Limit(9)
	h := httplimit.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), l, 0)
	r := httptest.NewRequest("POST", "/", &closes{Reader: strings.NewReader("x")})
	r.ContentLength = 1 // known
	r.ParseForm()
	var requests sync.WaitGroup
	for range 9 {
		requests.Go(func() { h.ServeHTTP(httptest.NewRecorder(), r) })
	}
	requests.Wait()
	testkit.Equal(t, "completed", l.Stats().Completed, 9)
}

// upload returns the body of a form with a file, and its type.
func upload(size int) (io.Reader, string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	f, _ := w.CreateFormFile("f", "x")
	f.Write(make([]byte, size))
	w.Close()
	return &b, w.FormDataContentType()
}

// net/http removes the temporary files of a form.
func TestHandlerTemporaryFiles(t *testing.T) {
	var file string
	next := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		r.ParseMultipartForm(0)
		f, err := r.MultipartForm.File["f"][0].Open()
		if err != nil {
			t.Error(err)
			return
		}
		file = f.(*os.File).Name()
		f.Close()
	})
	for name, h := range under(next) {
		server := httptest.NewServer(h)
		body, kind := upload(1 << 10)
		resp, err := http.Post(server.URL, kind, body)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		server.Close() // all requests have ended
		if _, err := os.Stat(file); file == "" || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the file %q is left: %v", name, file, err)
		}
	}
}

// next sees trailers, also those that the client has not declared before its body.
func TestHandlerTrailers(t *testing.T) {
	for _, declared := range []string{"", "Trailer: Sum\r\n"} {
		next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			io.WriteString(w, r.Trailer.Get("Sum"))
		})
		for name, h := range under(next) {
			synctest.Test(t, func(t *testing.T) {
				server(h, func(dial func() *conn) {
					c := dial()
					c.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n" + declared + "\r\n1\r\nx\r\n0\r\nSum: 7\r\n\r\n")
					if got := c.received(); !strings.HasSuffix(got, "\r\n\r\n7") {
						t.Errorf("%s, declared %q: got %q", name, declared, got)
					}
				})
			})
		}
	}
}
