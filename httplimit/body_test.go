package httplimit_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/httplimit"
	"github.com/stint-go/stint/internal/testkit"
)

// The permit is held until the body has been read or closed, whatever comes first, and is
// returned once.
func TestTransportHoldsUntilTheBodyEnds(t *testing.T) {
	l := stint.Limit(2)
	tr := &httplimit.Transport{Limiter: l, Base: base(func(*http.Request) (*http.Response, error) { return answer(200), nil })}
	for name, end := range map[string]func(io.ReadCloser){
		"closed":          func(b io.ReadCloser) { b.Close() },
		"read":            func(b io.ReadCloser) { io.ReadAll(b) },
		"read and closed": func(b io.ReadCloser) { io.ReadAll(b); b.Close(); b.Close() },
		"read in part and closed": func(b io.ReadCloser) {
			b.Read(make([]byte, 3))
			testkit.Equal(t, "permits held", l.Stats().Running, 2)
			b.Close()
		},
		"closed while it is read": func(b io.ReadCloser) {
			var reader sync.WaitGroup
			reader.Go(func() { io.ReadAll(b) })
			b.Close()
			reader.Wait()
		},
	} {
		other, _ := get(tr)
		resp, err := get(tr)
		testkit.Equal(t, "error", err, nil)
		testkit.Equal(t, name+": permits held before", l.Stats().Running, 2)
		end(resp.Body)
		testkit.Equal(t, name+": permits held after", l.Stats().Running, 1)
		other.Body.Close()
		testkit.Equal(t, name+": permits held at the end", l.Stats().Running, 0)
	}
}

// breaks answers with a body that breaks off after its content.
var breaks = base(func(*http.Request) (*http.Response, error) {
	r := answer(200)
	r.Body = io.NopCloser(io.MultiReader(r.Body, iotest.ErrReader(errBroken)))
	return r, nil
})

// A body that breaks off is a failed request, about whose error the function given to
// Overload is asked once, without locks: it may close the body. If it panics, the permit is
// returned.
func TestTransportReportsErrorsOfBodies(t *testing.T) {
	asked := 0
	var resp *http.Response
	l := stint.Auto(1, 9, stint.Overload(func(err error) bool {
		resp.Body.Close()
		if asked++; asked > 2 {
			panic("broken")
		}
		return err == errBroken
	}))
	before := l.Current()
	tr := &httplimit.Transport{Limiter: l, Base: breaks}
	for failed := range uint64(3) {
		resp, _ = get(tr)
		v := testkit.Recovered(func() {
			text, err := io.ReadAll(resp.Body)
			testkit.Equal(t, "text", string(text), "content")
			testkit.Equal(t, "error of the body", err, errBroken)
		})
		testkit.Equal(t, "panics", v != nil, failed == 2)
		resp.Body.Close()
		testkit.Equal(t, "failed", l.Stats().Failed, failed+1)
		testkit.Equal(t, "permits held", l.Stats().Running, 0)
	}
	if l.Current() >= before {
		t.Errorf("the limit was %d, and is %d after an overload", before, l.Current())
	}
}

// A response whose body is open when the request's context ends has failed, and returns the
// permit even if nobody reads or closes the body; one that was closed before has not. What is
// read after that is no failure.
func TestTransportCountsAbandonedBodies(t *testing.T) {
	for failed, end := range []func(io.Closer, func()){
		func(b io.Closer, cancel func()) { b.Close(); cancel() },
		func(_ io.Closer, cancel func()) { cancel() },
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			l := stint.Auto(1, 9, stint.Overload(func(error) bool { asked++; return true }))
			ctx, cancel := context.WithCancel(t.Context())
			resp, _ := (&httplimit.Transport{Limiter: l, Base: breaks}).RoundTrip(request(ctx, "http://a.example/"))
			testkit.Equal(t, "permits held", l.Stats().Running, 1)
			end(resp.Body, cancel)
			synctest.Wait()
			testkit.Equal(t, "permits held at the end", l.Stats().Running, 0)
			_, err := io.ReadAll(resp.Body)
			testkit.Equal(t, "error", err, errBroken)
			testkit.Equal(t, "calls of the function", asked, 0)
			testkit.Equal(t, "failed", l.Stats().Failed, uint64(failed))
		})
	}
}

// A connection that has switched protocols, through a proxy, holds the permit, can be written
// to, and passes on that its client has closed the sending side.
func TestTransportHalfClose(t *testing.T) {
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer c.Close()
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: count\r\n\r\n")
		n, _ := io.Copy(io.Discard, rw)
		fmt.Fprint(c, n)
	}))
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
	asks := request(t.Context(), front.URL)
	asks.Header.Set("Connection", "Upgrade")
	asks.Header.Set("Upgrade", "count")
	asks.Write(c)
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
