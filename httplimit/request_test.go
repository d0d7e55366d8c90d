package httplimit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/httplimit"
	"github.com/stint-go/stint/internal/testkit"
)

// under returns h without a limit, and under one.
func under(h http.Handler) map[string]http.Handler {
	return map[string]http.Handler{"plain": h, "limited": httplimit.Handler(h, stint.Limit(1), 0)}
}

// A handler outside sees the pattern and the path values of a ServeMux inside.
func TestHandlerShowsPathValues(t *testing.T) {
	for pattern, want := range map[string]string{
		"/a/{x}/c/{y...}":        "/a/{x}/c/{y...} x=b y=d/e",
		"GET /a/{x}/":            "GET /a/{x}/ x=b y=",
		"POST /{y}/{x}/c/d/e":    " x= y=", // no match
		"example.com/a/b/{y...}": "example.com/a/b/{y...} x= y=c/d/e",
	} {
		mux := http.NewServeMux()
		mux.HandleFunc(pattern, func(http.ResponseWriter, *http.Request) {})
		for name, h := range under(mux) {
			r := httptest.NewRequest("GET", "/a/b/c/d/e", nil)
			h.ServeHTTP(httptest.NewRecorder(), r)
			testkit.Equal(t, name, fmt.Sprintf("%s x=%s y=%s", r.Pattern, r.PathValue("x"), r.PathValue("y")), want)
		}
	}
}

// A request that next does not change is not written to: others may read it meanwhile. The
// race detector tells.
func TestHandlerWritesNothing(t *testing.T) {
	l := stint.Limit(9)
	h := httplimit.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), l, 0)
	r := httptest.NewRequest("POST", "/", strings.NewReader("x"))
	var requests sync.WaitGroup
	for range 9 {
		requests.Go(func() { h.ServeHTTP(httptest.NewRecorder(), r) })
	}
	requests.Wait()
	testkit.Equal(t, "completed", l.Stats().Completed, 9)
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
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		part, _ := form.CreateFormFile("f", "x")
		part.Write(make([]byte, 1<<10))
		form.Close()
		server := httptest.NewServer(h)
		resp, err := http.Post(server.URL, form.FormDataContentType(), &body)
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
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, r.Trailer.Get("Sum"))
	})
	for _, declared := range []string{"", "Trailer: Sum\r\n"} {
		synctest.Test(t, func(t *testing.T) {
			server(httplimit.Handler(next, stint.Limit(1), 0), func(dial func() net.Conn) {
				c := dial()
				send(c, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"+declared+"\r\n1\r\nx\r\n0\r\nSum: 7\r\n\r\n")
				if got := received(c); !strings.HasSuffix(got, "\r\n\r\n7") {
					t.Errorf("declared %q: got %q", declared, got)
				}
			})
		})
	}
}

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
			server(httplimit.Handler(next, l, 1), func(dial func() net.Conn) {
				client := dial()
				send(client, c.request)
				testkit.Equal(t, name+": answer while it waits", received(client), "")
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
		server(httplimit.Handler(next, l, 1), func(dial func() net.Conn) {
			slow, other := dial(), dial()
			send(slow, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12")
			send(other, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
			testkit.Equal(t, "refused", l.Stats().Refused, 1)
			testkit.Equal(t, "requests that wait", l.Stats().Waiting, 0)
			send(slow, "345")
			testkit.Equal(t, "requests that wait", l.Stats().Waiting, 1)
			free()
			synctest.Wait()
			if got := received(slow); !strings.HasSuffix(got, "\r\n\r\n12345") {
				t.Errorf("got %q", got)
			}
		})
	})
}

// next reads the same body after it has waited.
func TestHandlerPassesTheBodyOn(t *testing.T) {
	content := func() io.Reader { return strings.NewReader(strings.Repeat("content ", 8<<10)) } // 64 KiB
	broken := func() io.Reader { return io.MultiReader(strings.NewReader("content"), iotest.ErrReader(errBroken)) }
	for name, c := range map[string]struct {
		length int
		body   func() io.Reader
	}{
		"the largest":      {64 << 10, content},
		"unknown":          {-1, content},
		"more than said":   {3, content},
		"less than said":   {64<<10 - 1, content},
		"breaks off":       {9, broken},
		"breaks off late":  {3, broken},
		"never begins":     {9, func() io.Reader { return iotest.ErrReader(errBroken) }},
		"limited":          {7, func() io.Reader { return http.MaxBytesReader(nil, io.NopCloser(content()), 3) }},
		"end with content": {64 << 10, func() io.Reader { return iotest.DataErrReader(content()) }},
	} {
		want := readTwice(c.body())
		if got := readAfterAWait(t, c.body(), c.length); got != want {
			t.Errorf("%s: got %.20q...%.20q, want %.20q", name, got, got[max(0, len(got)-20):], want)
		}
	}
}

// readTwice reads a body to its end, and again.
func readTwice(b io.Reader) string {
	text, err := io.ReadAll(iotest.OneByteReader(b))
	_, again := b.Read(make([]byte, 1))
	return fmt.Sprintf("%s, %v, %v", text, err, again)
}

// readAfterAWait sends a request that waits, and returns what next reads.
func readAfterAWait(t *testing.T, body io.Reader, length int) (got string) {
	synctest.Test(t, func(t *testing.T) {
		l, free := held(t)
		h := httplimit.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = readTwice(r.Body) }), l, 1)
		r := httptest.NewRequest("POST", "/", body)
		r.ContentLength = int64(length)
		var request sync.WaitGroup
		request.Go(func() { h.ServeHTTP(httptest.NewRecorder(), r) })
		synctest.Wait()
		testkit.Equal(t, "requests that wait", l.Stats().Waiting, 1)
		free()
		request.Wait()
	})
	return got
}
