package httplimit_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"reflect"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/httplimit"
	"github.com/stint-go/stint/internal/testkit"
)

// switches is a handler that switches protocols, reads until its client has closed its
// sending side, and then sends the number of bytes.
var switches = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
	c, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer c.Close()
	io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: count\r\n\r\n")
	n, _ := io.Copy(io.Discard, rw)
	fmt.Fprint(c, n)
})

// asksToSwitch returns a request that switches answers.
func asksToSwitch(ctx context.Context, url string) *http.Request {
	r := request(ctx, url)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "count")
	return r
}

// The body of each kind of response has all the methods that net/http gives it.
func TestBodiesHaveTheMethodsOfNetHTTP(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/switches", switches)
	mux.HandleFunc("/text", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "text") })
	mux.HandleFunc("/zipped", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, "text")
		z.Close()
	})
	for _, http2 := range []bool{false, true} {
		s := httptest.NewUnstartedServer(mux)
		s.EnableHTTP2 = http2
		s.Config.ErrorLog = log.New(io.Discard, "", 0) // of a connection that nobody needed
		s.StartTLS()
		defer s.Close()
		plain := s.Client().Transport
		for _, path := range []string{"/text", "/zipped", "/switches"} {
			send := request
			if path == "/switches" {
				if send = asksToSwitch; http2 {
					continue // it has no such responses
				}
			}
			body := func(rt http.RoundTripper) reflect.Type {
				resp, err := rt.RoundTrip(send(t.Context(), s.URL+path))
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				return reflect.TypeOf(resp.Body)
			}
			want, got := body(plain), body(&httplimit.Transport{Limiter: stint.Limit(1), Base: plain})
			for m := range want.Methods() {
				if _, ok := got.MethodByName(m.Name); !ok {
					t.Errorf("HTTP/2 %v, %s: the body of net/http has the method %s, ours has not", http2, path, m.Name)
				}
			}
		}
	}
}

// A body has the optional methods that Base gave it, and no others.
func TestBodiesHaveTheirOwnMethods(t *testing.T) {
	type closeWriter interface{ CloseWrite() error }
	client, server := net.Pipe()
	defer client.Close()
	defer server.Close()
	for _, b := range []io.ReadCloser{
		http.NoBody, io.NopCloser(nil), client, new(net.TCPConn), struct{ io.ReadCloser }{},
		struct {
			io.ReadCloser
			closeWriter
		}{io.NopCloser(nil), nil},
	} {
		resp, err := get(&httplimit.Transport{Limiter: stint.Limit(1), Base: base(func(*http.Request) (*http.Response, error) { return &http.Response{Body: b}, nil })})
		testkit.Equal(t, "error", err, nil)
		_, writes := b.(io.Writer)
		_, got := resp.Body.(io.Writer)
		testkit.Equal(t, fmt.Sprintf("%T: Write", b), got, writes)
		_, closes := b.(closeWriter)
		_, got = resp.Body.(closeWriter)
		testkit.Equal(t, fmt.Sprintf("%T: CloseWrite", b), got, closes && writes)
	}
}

// A connection through a proxy passes on that its client has closed the sending side.
func TestTransportHalfClose(t *testing.T) {
	backend := httptest.NewServer(switches)
	defer backend.Close()
	target, _ := url.Parse(backend.URL)
	l := stint.Limit(1)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = &httplimit.Transport{Limiter: l}
	front := httptest.NewServer(httplimit.Handler(proxy, l, 0))
	defer front.Close()
	c, err := net.Dial("tcp", front.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	asksToSwitch(t.Context(), front.URL).Write(c)
	r := bufio.NewReader(c)
	if _, err := http.ReadResponse(r, nil); err != nil {
		t.Fatal(err)
	}
	testkit.Equal(t, "permits held", l.Stats().Running, 1)
	io.WriteString(c, "12345")
	c.(*net.TCPConn).CloseWrite()
	if answer, err := io.ReadAll(r); string(answer) != "5" {
		t.Errorf("got %q, %v; want 5", answer, err)
	}
}

// The function given to Overload is called without locks: it may close the body.
func TestOverloadMayCloseTheBody(t *testing.T) {
	var resp *http.Response
	l := stint.Auto(1, 9, stint.Overload(func(error) bool { resp.Body.Close(); return true }))
	tr := &httplimit.Transport{Limiter: l, Base: base(func(*http.Request) (*http.Response, error) {
		return &http.Response{Body: io.NopCloser(iotest.ErrReader(errBroken))}, nil
	})}
	resp, _ = get(tr)
	_, err := resp.Body.Read(make([]byte, 1))
	testkit.Equal(t, "error", err, errBroken)
	s := l.Stats()
	if s.Failed != 1 || s.Completed != 1 || s.Running != 0 {
		t.Errorf("got %+v", s)
	}
}

// What is read after a body was closed, or its request has ended, is no failure.
func TestOverloadIsNotAskedAfterTheEnd(t *testing.T) {
	for failed, end := range []func(io.Closer, func()){
		func(b io.Closer, _ func()) { b.Close() },
		func(_ io.Closer, cancel func()) { cancel() },
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			l := stint.Auto(1, 9, stint.Overload(func(error) bool { asked++; return true }))
			tr := &httplimit.Transport{Limiter: l, Base: base(func(*http.Request) (*http.Response, error) {
				return &http.Response{Body: io.NopCloser(iotest.ErrReader(errBroken))}, nil
			})}
			ctx, cancel := context.WithCancel(t.Context())
			resp, _ := tr.RoundTrip(request(ctx, "http://a.example/"))
			end(resp.Body, cancel)
			synctest.Wait()
			_, err := resp.Body.Read(make([]byte, 1))
			testkit.Equal(t, "error", err, errBroken)
			testkit.Equal(t, "calls of the function", asked, 0)
			testkit.Equal(t, "failed", l.Stats().Failed, uint64(failed))
			cancel()
		})
	}
}
