package httplimit_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/httplimit"
	"github.com/stint-go/stint/internal/testkit"
)

// held returns a limiter whose only permit is held until free is called.
func held(t *testing.T) (l *stint.Limiter, free func()) {
	l = stint.Limit(1)
	holding, end := make(chan struct{}), make(chan struct{})
	var holder sync.WaitGroup
	holder.Go(func() {
		l.Do(t.Context(), func(context.Context) error { close(holding); <-end; return nil })
	})
	<-holding
	return l, func() { close(end); holder.Wait() }
}

// A request whose client has gone leaves the queue, with a body that was read ahead as
// without one. Other bodies keep it there, and are not asked for.
func TestHandlerClientOfABodyHasGone(t *testing.T) {
	const post = "POST / HTTP/1.1\r\nHost: a\r\n"
	sized := func(n int) string {
		return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", post, n, strings.Repeat("x", n))
	}
	for name, c := range map[string]struct {
		request string
		stays   int
	}{
		"GET":                     {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 0},
		"no body":                 {sized(0), 0},
		"a small body":            {sized(5), 0},
		"a body for HTTP/1.0":     {strings.Replace(sized(5), "1.1", "1.0", 1), 0},
		"the largest read ahead":  {sized(64 << 10), 0},
		"a larger body":           {sized(64<<10 + 1), 1},
		"a body of unknown size":  {post + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", 1},
		"a body not yet sent":     {post + "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n", 1},
		"a body that comes never": {post + "Content-Length: 5\r\n\r\n123", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			l, free := held(t)
			calls := 0
			next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls++ })
			server(httplimit.Handler(next, l, 1), func(dial func() *conn) {
				client := dial()
				client.send(c.request)
				testkit.Equal(t, name+": answer while it waits", client.received(), "")
				client.Close()
				synctest.Wait()
				testkit.Equal(t, name+": requests that wait", l.Stats().Waiting, c.stays)
				free()
				synctest.Wait()
				testkit.Equal(t, name+": calls of next", calls, c.stays)
			})
		})
	}
}

// A request is not in the limiter's queue before its body is there: its client would get a
// permit, and make it wait. It takes room.
func TestHandlerReadsBeforeItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, free := held(t)
		next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
		server(httplimit.Handler(next, l, 1), func(dial func() *conn) {
			slow, other := dial(), dial()
			slow.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12")
			other.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
			testkit.Equal(t, "refused", l.Stats().Refused, 1)
			testkit.Equal(t, "requests that wait", l.Stats().Waiting, 0)
			slow.send("345")
			testkit.Equal(t, "requests that wait", l.Stats().Waiting, 1)
			free()
			synctest.Wait()
			if got := slow.received(); !strings.HasSuffix(got, "\r\n\r\n12345") {
				t.Errorf("got %q", got)
			}
		})
	})
}

// bodies are what next may get, and Content-Length.
var bodies = map[string]struct {
	length int
	body   func() io.Reader
}{
	"one byte":         {1, func() io.Reader { return strings.NewReader("x") }},
	"the largest":      {64 << 10, func() io.Reader { return strings.NewReader(strings.Repeat("0123456789abcdef", 4<<10)) }},
	"too large":        {64<<10 + 1, func() io.Reader { return strings.NewReader(strings.Repeat("x", 64<<10+1)) }},
	"unknown":          {-1, func() io.Reader { return strings.NewReader("content") }},
	"more than said":   {3, func() io.Reader { return strings.NewReader(strings.Repeat("content ", 1000)) }},
	"less than said":   {9, func() io.Reader { return strings.NewReader("content") }},
	"breaks off":       {9, func() io.Reader { return io.MultiReader(strings.NewReader("content"), iotest.ErrReader(errBroken)) }},
	"breaks off late":  {3, func() io.Reader { return io.MultiReader(strings.NewReader("content"), iotest.ErrReader(errBroken)) }},
	"never begins":     {9, func() io.Reader { return iotest.ErrReader(errBroken) }},
	"limited":          {7, func() io.Reader { return http.MaxBytesReader(nil, io.NopCloser(strings.NewReader("content")), 3) }},
	"end with content": {7, func() io.Reader { return iotest.DataErrReader(strings.NewReader("content")) }},
	"in small parts":   {7, func() io.Reader { return iotest.OneByteReader(strings.NewReader("content")) }},
}

// readTwice reads a body to its end, and again.
func readTwice(b io.Reader) string {
	text, err := io.ReadAll(iotest.OneByteReader(b))
	_, again := b.Read(make([]byte, 1))
	return fmt.Sprintf("%s, %v, %v", text, err, again)
}

// next reads the same after it has waited, and a handler outside does after a refusal.
func TestHandlerPassesTheBodyOn(t *testing.T) {
	for name, c := range bodies {
		want, outside := readTwice(c.body()), ""
		for _, served := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				l, free := held(t)
				got := ""
				h := httplimit.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = readTwice(r.Body) }), l, 1)
				ctx, leave := context.WithCancel(t.Context())
				r := httptest.NewRequestWithContext(ctx, "POST", "/", c.body())
				r.ContentLength = int64(c.length)
				var request sync.WaitGroup
				request.Go(func() { h.ServeHTTP(httptest.NewRecorder(), r) })
				synctest.Wait()
				testkit.Equal(t, "requests that wait", l.Stats().Waiting, 1)
				if !served {
					leave()
					request.Wait()
					outside = readTwice(r.Body)
				}
				free()
				request.Wait()
				leave()
				testkit.Equal(t, name+": next is called", got != "", served)
				if got+outside != want {
					t.Errorf("%s: got %.20q...%.20q, want %.20q", name, got, outside, want)
				}
			})
		}
	}
}

// A body that was read ahead can be closed while it is read, and yields nothing after that.
func TestHandlerBodyIsClosed(t *testing.T) {
	for _, readers := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			l, free := held(t)
			next := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				var reading sync.WaitGroup
				for range readers {
					reading.Go(func() { io.ReadAll(iotest.OneByteReader(r.Body)) })
				}
				testkit.Equal(t, "error of Close", r.Body.Close(), nil)
				reading.Wait()
				n, err := r.Body.Read(make([]byte, 1))
				testkit.Equal(t, "bytes", n, 0)
				testkit.Equal(t, "error", err, io.EOF)
			})
			body := &closes{Reader: strings.NewReader("content")}
			r := httptest.NewRequest("POST", "/", body)
			r.ContentLength = 7
			var request sync.WaitGroup
			request.Go(func() { httplimit.Handler(next, l, 1).ServeHTTP(httptest.NewRecorder(), r) })
			synctest.Wait()
			free()
			request.Wait()
			testkit.Equal(t, "calls of Close", body.closed.Load(), 1)
		})
	}
}
