package httplimit_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/httplimit"
	"github.com/stint-go/stint/internal/testkit"
)

// base is a Transport's Base.
type base func(*http.Request) (*http.Response, error)

func (b base) RoundTrip(r *http.Request) (*http.Response, error) { return b(r) }

// answer returns a response with a status and a body of seven bytes.
func answer(status int, header ...string) *http.Response {
	r := &http.Response{StatusCode: status, Header: make(http.Header), Body: io.NopCloser(strings.NewReader("content"))}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

// request returns one with ctx.
func request(ctx context.Context, url string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		panic(err)
	}
	return r
}

// get sends a request and returns the response, whose body is open.
func get(t *httplimit.Transport) (*http.Response, error) {
	return t.RoundTrip(request(context.Background(), "http://a.example/"))
}

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

// A request that ends without a body, by an error or a panic returns the permit at once.
func TestTransportReturnsThePermit(t *testing.T) {
	for name, b := range map[string]base{
		"error":   func(*http.Request) (*http.Response, error) { return nil, errBroken },
		"both":    func(*http.Request) (*http.Response, error) { return answer(200), errBroken },
		"neither": func(*http.Request) (*http.Response, error) { return nil, nil },
		"panic":   func(*http.Request) (*http.Response, error) { panic("broken") },
		"Goexit":  func(*http.Request) (*http.Response, error) { runtime.Goexit(); return nil, nil },
		"no body": func(*http.Request) (*http.Response, error) { return &http.Response{Body: http.NoBody}, nil },
		"nil":     func(*http.Request) (*http.Response, error) { return &http.Response{}, nil },
	} {
		l := stint.Limit(1)
		tr := &httplimit.Transport{Limiter: l, Base: b}
		for range 3 {
			var request sync.WaitGroup
			request.Go(func() { testkit.Recovered(func() { get(tr) }) })
			request.Wait()
			testkit.Equal(t, name+": permits held", l.Stats().Running, 0)
		}
	}
}

var errBroken = errors.New("broken connection")

// closes is a request's body that counts how often it is closed.
type closes struct {
	io.Reader
	closed atomic.Int32
}

func (b *closes) Close() error { b.closed.Add(1); return nil }

// Waiting ends with the context. The body of the request is closed, as by all RoundTrippers.
func TestTransportWaitingIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		sent := 0
		tr := &httplimit.Transport{Limiter: l, Base: base(func(*http.Request) (*http.Response, error) { sent++; return answer(200), nil })}
		first, _ := get(tr)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errBroken)
		defer cancel()
		body := &closes{Reader: strings.NewReader("x")}
		req, _ := http.NewRequestWithContext(ctx, "POST", "http://a.example/", body)
		resp, err := tr.RoundTrip(req)
		if resp != nil || err != errBroken || body.closed.Load() != 1 || sent != 1 {
			t.Errorf("got %v and %v, closed %d times, sent %d", resp, err, body.closed.Load(), sent)
		}
		testkit.Equal(t, "time passed", testkit.SinceBubble(), time.Second)
		testkit.Equal(t, "permits held", l.Stats().Running, 1)
		first.Body.Close()
		testkit.Equal(t, "permits held", l.Stats().Running, 0)
	})
}

// A request that is cancelled returns the permit, also if nobody reads or closes the body.
func TestTransportCancelledRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		tr := &httplimit.Transport{Limiter: l, Base: base(func(*http.Request) (*http.Response, error) { return answer(200), nil })}
		ctx, cancel := context.WithCancel(t.Context())
		resp, _ := tr.RoundTrip(request(ctx, "http://a.example/"))
		testkit.Equal(t, "permits held", l.Stats().Running, 1)
		cancel()
		synctest.Wait()
		testkit.Equal(t, "permits held", l.Stats().Running, 0)
		resp.Body.Close()
		testkit.Equal(t, "permits held", l.Stats().Running, 0)
	})
}

// The request that Base gets is the caller's but for the context, and the response that the
// caller gets is that of Base, to its own request.
func TestTransportChangesNothing(t *testing.T) {
	req := request(t.Context(), "http://a.example/x")
	resp := answer(200)
	before := *req
	tr := &httplimit.Transport{Limiter: stint.Limit(1), Base: base(func(r *http.Request) (*http.Response, error) {
		resp.Request = r
		if got := *r.WithContext(req.Context()); !reflect.DeepEqual(got, before) {
			t.Errorf("Base got %v, want %v", got, before)
		}
		return resp, nil
	})}
	got, err := tr.RoundTrip(req)
	if got != resp || err != nil {
		t.Errorf("got %v and %v", got, err)
	}
	if got.Request != req || !reflect.DeepEqual(*req, before) {
		t.Errorf("the request is now %v, that of the response %v; want %v", req, got.Request, before)
	}
	text, err := io.ReadAll(got.Body)
	testkit.Equal(t, "body", string(text), "content")
	testkit.Equal(t, "error", err, nil)
}

// Status 429 and 503 lower an adaptive limit, and no other does. Retry-After keeps it down,
// for a minute at most.
func TestTransportOverload(t *testing.T) {
	for _, c := range []struct {
		status int
		header string
		stays  time.Duration // at least; 0: the limit does not fall
	}{
		{200, "", 0}, {404, "9", 0}, {500, "9", 0},
		{429, "", time.Second}, {503, "", time.Second},
		{429, "20", 20 * time.Second}, {503, "20", 20 * time.Second},
		{503, "Sat, 01 Jan 2000 00:00:40 GMT", 29 * time.Second},
		{503, "Sat, 01 Jan 1999 00:00:30 GMT", time.Second},
		{503, "Mon, 01 Jan 2001 00:00:40 GMT|Mon, 01 Jan 2001 00:00:10 GMT", 29 * time.Second},
		{503, "-5", time.Second}, {503, "soon", time.Second},
		{503, "86400", time.Minute}, {503, "99999999999999999999", time.Minute},
	} {
		t.Run(fmt.Sprint(c.status, " ", c.header), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := stint.Auto(1, 20)
				var status atomic.Int32
				status.Store(200)
				tr := &httplimit.Transport{Limiter: l, Base: base(func(*http.Request) (*http.Response, error) {
					time.Sleep(200 * time.Millisecond)
					after, date, _ := strings.Cut(c.header, "|")
					return answer(int(status.Load()), "Retry-After", after, "Date", date), nil
				})}
				ctx, stop := context.WithCancel(t.Context())
				var clients sync.WaitGroup
				for range 30 {
					clients.Go(func() {
						for ctx.Err() == nil {
							if resp, err := tr.RoundTrip(request(ctx, "http://a.example/")); err == nil {
								resp.Body.Close()
							}
						}
					})
				}
				time.Sleep(10 * time.Second)
				status.Store(int32(c.status)) // for two rounds
				time.Sleep(400 * time.Millisecond)
				status.Store(200)
				overload, when := 0, time.Now() // the limit that was too high
				for _, change := range l.Stats().History {
					if _, err := fmt.Sscanf(change.Reason, "overload with %d", &overload); err == nil {
						when = change.Time
					}
				}
				testkit.Equal(t, "the limit fell", overload > 0, c.stays > 0)
				for l.Current() < overload && time.Since(when) < 2*time.Minute {
					time.Sleep(100 * time.Millisecond)
				}
				if took := time.Since(when); overload > 0 && (took < c.stays || took > c.stays+20*time.Second) {
					t.Errorf("the limit is %d again after %v, want at least %v", overload, took, c.stays)
				}
				stop()
				clients.Wait()
			})
		})
	}
}

// The function given to Overload is asked about errors of requests.
func TestTransportReportsErrors(t *testing.T) {
	asked := 0
	l := stint.Auto(1, 9, stint.Overload(func(err error) bool { asked++; return err == errBroken }))
	before := l.Current()
	tr := &httplimit.Transport{Limiter: l, Base: base(func(*http.Request) (*http.Response, error) { return nil, errBroken })}
	for range 2 { // one may be chance
		_, err := get(tr)
		testkit.Equal(t, "error", err, errBroken)
	}
	if asked != 2 || l.Current() >= before {
		t.Errorf("asked %d times, limit %d", asked, l.Current())
	}
}

// A body that breaks off is a failed request, about whose error the function given to
// Overload is asked once. If that panics, the permit is returned.
func TestTransportReportsErrorsOfBodies(t *testing.T) {
	asked := 0
	l := stint.Auto(1, 9, stint.Overload(func(err error) bool {
		if asked++; asked > 2 {
			panic("broken")
		}
		return err == errBroken
	}))
	before := l.Current()
	tr := &httplimit.Transport{Limiter: l, Base: base(func(*http.Request) (*http.Response, error) {
		r := answer(200)
		r.Body = io.NopCloser(io.MultiReader(r.Body, iotest.ErrReader(errBroken)))
		return r, nil
	})}
	for failed := range uint64(3) {
		resp, err := get(tr)
		testkit.Equal(t, "error", err, nil)
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

// A response whose body is open when the request's context ends has failed; one that was
// closed before has not.
func TestTransportCountsAbandonedBodies(t *testing.T) {
	for failed, end := range []func(resp *http.Response, cancel func()){
		func(resp *http.Response, cancel func()) { resp.Body.Close(); cancel() },
		func(resp *http.Response, cancel func()) { cancel() },
	} {
		synctest.Test(t, func(t *testing.T) {
			l := stint.Limit(1)
			tr := &httplimit.Transport{Limiter: l, Base: base(func(*http.Request) (*http.Response, error) { return answer(200), nil })}
			ctx, cancel := context.WithCancel(t.Context())
			resp, err := tr.RoundTrip(request(ctx, "http://a.example/"))
			testkit.Equal(t, "error", err, nil)
			end(resp, cancel)
			synctest.Wait()
			testkit.Equal(t, "failed", l.Stats().Failed, uint64(failed))
			testkit.Equal(t, "permits held", l.Stats().Running, 0)
		})
	}
}

// A Base that returns neither a response nor an error is reported by the client, as without
// a Transport.
func TestTransportOfABrokenBase(t *testing.T) {
	l := stint.Limit(1)
	c := &http.Client{Transport: &httplimit.Transport{Limiter: l, Base: base(func(*http.Request) (*http.Response, error) { return nil, nil })}}
	if _, err := c.Get("http://a.example/"); err == nil || !strings.Contains(err.Error(), "nil *Response") {
		t.Errorf("got %v", err)
	}
	testkit.Equal(t, "permits held", l.Stats().Running, 0)
}

// A request of a task on the limiter runs on the task's permit.
func TestTransportNests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		tr := &httplimit.Transport{Limiter: l, Base: base(func(*http.Request) (*http.Response, error) { return answer(200), nil })}
		err := stint.Range(t.Context(), 5, func(ctx context.Context, _ int) error {
			resp, err := tr.RoundTrip(request(ctx, "http://a.example/"))
			if err == nil {
				resp.Body.Close()
			}
			return err
		}, l)
		testkit.Equal(t, "error", err, nil)
	})
}

// closer is a base that counts calls of CloseIdleConnections.
type closer struct {
	base
	closed int
}

func (c *closer) CloseIdleConnections() { c.closed++ }

func TestTransportClosesIdleConnections(t *testing.T) {
	c := new(closer)
	(&http.Client{Transport: &httplimit.Transport{Limiter: stint.Limit(1), Base: c}}).CloseIdleConnections()
	testkit.Equal(t, "calls", c.closed, 1)
	(&httplimit.Transport{Limiter: stint.Limit(1), Base: base(nil)}).CloseIdleConnections()
}

// servers are real ones. most is how many requests a server had at once.
func servers(t *testing.T, f func(t *testing.T, client *http.Client, l *stint.Limiter, root string, connections, most *atomic.Int32)) {
	for _, version := range []int{1, 2} {
		t.Run(fmt.Sprint("HTTP/", version), func(t *testing.T) {
			var connections, running, most atomic.Int32
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				testkit.Equal(t, "version", r.ProtoMajor, version)
				n := running.Add(1)
				defer running.Add(-1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				switch r.URL.Path {
				case "/empty":
					w.WriteHeader(http.StatusNoContent)
				case "/trailers":
					w.Header().Set("Trailer", "Sum")
					w.Header().Set("Location", "/there")
					io.WriteString(w, "content")
					w.Header().Set("Sum", "7")
				case "/hangs":
					w.(http.Flusher).Flush()
					<-r.Context().Done()
				default:
					io.Copy(w, r.Body)
					io.WriteString(w, strings.Repeat("content ", 10_000))
				}
			}))
			server.Config.ConnState = connState(&connections)
			server.EnableHTTP2 = version == 2
			if version == 2 {
				server.StartTLS()
			} else {
				server.Start()
			}
			defer server.Close()
			l := stint.Limit(3)
			client := server.Client()
			client.Transport = &httplimit.Transport{Limiter: l, Base: client.Transport}
			f(t, client, l, server.URL, &connections, &most)
			testkit.Equal(t, "permits held at the end", l.Stats().Running, 0)
		})
	}
}

func connState(n *atomic.Int32) func(net.Conn, http.ConnState) {
	return func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			n.Add(1)
		}
	}
}

func TestTransportOfServers(t *testing.T) {
	servers(t, func(t *testing.T, client *http.Client, l *stint.Limiter, root string, connections, most *atomic.Int32) {
		var requests sync.WaitGroup
		for range 40 {
			requests.Go(func() {
				resp, err := client.Post(root+"/", "text/plain", strings.NewReader("sent "))
				if err != nil {
					t.Error(err)
					return
				}
				text, err := io.ReadAll(resp.Body)
				if err != nil || len(text) != 80_005 || resp.Body.Close() != nil {
					t.Errorf("%d bytes, %v", len(text), err)
				}
			})
		}
		requests.Wait()
		if n := most.Load(); n > 4 { // a handler may end after its client has the last byte
			t.Errorf("%d requests at once, the limit is 3", n)
		}
	})
}

// Connections are used again, as without the Transport.
func TestTransportReusesConnections(t *testing.T) {
	servers(t, func(t *testing.T, client *http.Client, l *stint.Limiter, root string, connections, most *atomic.Int32) {
		for i := range 20 {
			path := []string{"/", "/empty"}[i%2]
			resp, err := client.Get(root + path)
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
			testkit.Equal(t, "permits held", l.Stats().Running, 0)
			resp.Body.Close()
			resp, err = client.Head(root + path)
			if err != nil {
				t.Fatal(err)
			}
			testkit.Equal(t, "permits held", l.Stats().Running, 0)
			resp.Body.Close()
		}
		testkit.Equal(t, "connections", connections.Load(), 1)
	})
}

// A request that is cancelled while its body is read returns the permit.
func TestTransportCancelledBody(t *testing.T) {
	servers(t, func(t *testing.T, client *http.Client, l *stint.Limiter, root string, connections, most *atomic.Int32) {
		ctx, cancel := context.WithCancel(t.Context())
		resp, err := client.Do(request(ctx, root+"/hangs"))
		if err != nil {
			t.Fatal(err)
		}
		testkit.Equal(t, "permits held", l.Stats().Running, 1)
		var reader sync.WaitGroup
		reader.Go(func() {
			if _, err := io.ReadAll(resp.Body); err == nil {
				t.Error("no error")
			}
		})
		cancel()
		reader.Wait()
		for l.Stats().Running > 0 { // until the watch of the context has run
			runtime.Gosched()
		}
		resp.Body.Close()
		client.Timeout = time.Millisecond
		if _, err := client.Get(root + "/hangs"); err == nil {
			t.Log("answered within a millisecond")
		} else if e, ok := errors.AsType[*url.Error](err); !ok || !e.Timeout() {
			t.Errorf("got %v, want a timeout", err)
		}
		for l.Stats().Running > 0 {
			runtime.Gosched()
		}
	})
}

// A connection that has switched protocols can be written to, and holds the permit until it
// is closed.
func TestTransportSwitchesProtocols(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		fmt.Fprint(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		rw.Flush()
		line, _ := rw.ReadString('\n')
		fmt.Fprint(rw, line)
		rw.Flush()
	}))
	defer server.Close()
	l := stint.Limit(1)
	req := request(t.Context(), server.URL)
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "echo")
	resp, err := (&http.Client{Transport: &httplimit.Transport{Limiter: l}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	conn, ok := resp.Body.(io.ReadWriteCloser)
	if !ok {
		t.Fatalf("%T has no Write", resp.Body)
	}
	fmt.Fprintln(conn, "hello")
	line, err := bufio.NewReader(conn).ReadString('\n')
	if line != "hello\n" {
		t.Errorf("got %q, %v", line, err)
	}
	conn.Close()
	testkit.Equal(t, "permits held", l.Stats().Running, 0)
}
