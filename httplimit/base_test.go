package httplimit_test

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/httplimit"
	"github.com/stint-go/stint/internal/testkit"
)

// nested are what a Base may do on the limiter with the context of the request that it got.
var nested = map[string]func(*http.Request, *httplimit.Transport) (*http.Response, error){
	"before, for a token": func(r *http.Request, tr *httplimit.Transport) (*http.Response, error) {
		resp, err := tr.RoundTrip(request(r.Context(), "http://a.example/token"))
		if err != nil {
			return nil, err
		}
		resp.Body.Close()
		return answer(200), nil
	},
	"instead, for a redirect": func(r *http.Request, tr *httplimit.Transport) (*http.Response, error) {
		return tr.RoundTrip(request(r.Context(), "http://a.example/there"))
	},
	"on another goroutine": func(r *http.Request, tr *httplimit.Transport) (resp *http.Response, err error) {
		var g sync.WaitGroup
		g.Go(func() { resp, err = tr.RoundTrip(request(r.Context(), "http://a.example/there")) })
		g.Wait()
		return resp, err
	},
	"a task": func(r *http.Request, tr *httplimit.Transport) (*http.Response, error) {
		return answer(200), tr.Limiter.Do(r.Context(), func(context.Context) error { return nil })
	},
}

// What a Base does with the context of the request that it got runs on the permit of that.
func TestTransportNestsInBase(t *testing.T) {
	for name, send := range nested {
		for _, end := range []func(io.ReadCloser, func()){
			func(b io.ReadCloser, _ func()) { b.Close() },
			func(b io.ReadCloser, _ func()) { io.ReadAll(b) },
			func(_ io.ReadCloser, cancel func()) { cancel() },
		} {
			synctest.Test(t, func(t *testing.T) {
				l := stint.Limit(1)
				tr := &httplimit.Transport{Limiter: l}
				tr.Base = base(func(r *http.Request) (*http.Response, error) {
					if r.URL.Path != "/" {
						return answer(200), nil
					}
					return send(r, tr)
				})
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				resp, err := tr.RoundTrip(request(ctx, "http://a.example/"))
				if err != nil {
					t.Fatal(name, err)
				}
				testkit.Equal(t, name+": permits held", l.Stats().Running, 1)
				end(resp.Body, cancel)
				synctest.Wait()
				testkit.Equal(t, name+": permits held at the end", l.Stats().Running, 0)
			})
		}
	}
}

// The context that Base got lends nothing when its request has ended: the permit is another's.
func TestTransportContextOutlivesTheRequest(t *testing.T) {
	l := stint.Limit(1)
	var got context.Context
	tr := &httplimit.Transport{Limiter: l, Base: base(func(r *http.Request) (*http.Response, error) { got = r.Context(); return answer(200), nil })}
	try := func() error { return l.TryDo(got, func(context.Context) error { return nil }) }
	first, _ := get(tr)
	testkit.Equal(t, "error while the request runs", try(), nil)
	first.Body.Close()
	ended := got
	second, _ := get(tr)
	defer second.Body.Close()
	got = ended
	testkit.Equal(t, "error after its end", try(), stint.ErrBusy)
}

// The caller gets the request that it sent, the header and the trailers, as without a
// Transport.
func TestTransportShowsTheResponse(t *testing.T) {
	servers(t, func(t *testing.T, client *http.Client, l *stint.Limiter, root string, _, _ *atomic.Int32) {
		limited := client.Transport.(*httplimit.Transport)
		for name, rt := range map[string]http.RoundTripper{"plain": limited.Base, "limited": limited} {
			req := request(t.Context(), root+"/trailers")
			resp, err := rt.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			testkit.Equal(t, name+": request", resp.Request, req)
			testkit.Equal(t, name+": trailer", resp.Trailer.Get("Sum"), "7")
			there, err := resp.Location()
			if err != nil || there.Path != "/there" {
				t.Errorf("%s: got %v, %v", name, there, err)
			}
		}
	})
}
