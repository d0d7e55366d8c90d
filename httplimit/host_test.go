package httplimit_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/httplimit"
	"github.com/stint-go/stint/internal/testkit"
)

// A host has a limiter of its own, made once. PerHost may take its time: requests to the host
// wait for it, in virtual time too, and may give up; requests to other hosts do not.
func TestTransportPerHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		var g [3]testkit.Gauge
		tr := &httplimit.Transport{
			PerHost: func(host string) *stint.Limiter {
				calls.Add(1)
				if host == "2.example:80" {
					return nil
				}
				time.Sleep(time.Minute)
				return stint.Limit(2)
			},
			Base: base(func(r *http.Request) (*http.Response, error) {
				g[r.URL.Host[0]-'0'].Hold(time.Second)
				return answer(204), nil
			}),
		}
		var requests sync.WaitGroup
		for i := range 30 {
			requests.Go(func() {
				_, err := tr.RoundTrip(request(t.Context(), fmt.Sprintf("http://%d.example/", i%3)))
				testkit.Equal(t, "error", err, nil)
			})
		}
		synctest.Wait()
		for range 3 {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errBroken)
			defer cancel()
			_, err := tr.RoundTrip(request(ctx, "http://0.example/"))
			testkit.Equal(t, "error of a request that gives up", err, errBroken)
		}
		testkit.Equal(t, "time passed", testkit.SinceBubble(), 3*time.Second)
		requests.Wait()
		testkit.Equal(t, "calls of PerHost", calls.Load(), 3)
		for i, want := range []int{2, 2, 10} {
			testkit.Equal(t, fmt.Sprintf("requests to host %d at once", i), g[i].Max(), want)
		}
		testkit.Equal(t, "time passed", testkit.SinceBubble(), time.Minute+5*time.Second)
	})
}

// A panic or Goexit of PerHost ends the request that called it. The next request calls it
// again, also one that waited.
func TestTransportPerHostPanics(t *testing.T) {
	for _, leave := range []func(){func() { panic("broken") }, runtime.Goexit} {
		synctest.Test(t, func(t *testing.T) {
			var calls, answers atomic.Int32
			tr := &httplimit.Transport{
				Base: base(func(*http.Request) (*http.Response, error) { return answer(204), nil }),
				PerHost: func(string) *stint.Limiter {
					time.Sleep(time.Second)
					if calls.Add(1) < 3 {
						leave()
					}
					return nil
				},
			}
			var requests sync.WaitGroup
			for range 5 {
				requests.Go(func() {
					testkit.Recovered(func() { get(tr); answers.Add(1) })
				})
			}
			requests.Wait()
			testkit.Equal(t, "calls of PerHost", calls.Load(), 3)
			testkit.Equal(t, "answers", answers.Load(), 3)
		})
	}
}

// A host is one host, however it is spelled.
func TestTransportHosts(t *testing.T) {
	for want, spelled := range map[string][]string{
		"a.example:80":             {"http://a.example/", "http://A.Example:80", "http://a.example.", "http://a.example.:80/", "http://a.example:"},
		"a.example:443":            {"https://a.example", "https://a.example:443/", "https://A.EXAMPLE.:443"},
		"a.example:8080":           {"http://a.example:8080", "https://a.example:8080"},
		"xn--bcher-kva.example:80": {"http://bücher.example", "http://BÜCHER.Example.:80", "http://XN--Bcher-KVA.example", "http://b%C3%BCcher.example", "http://bu\u0308cher。ｅxample"},
		"xn--i-9bb.example:80":     {"http://İ.example"},
		"127.0.0.1:80":             {"http://127.0.0.1.", "http://[::ffff:127.0.0.1]:80", "http://１２７.0.0.1"},
		"[::1]:80":                 {"http://[::1]/", "http://[::1]:80/", "http://[0:0:0:0:0:0:0:1]:"},
		"[fe80::a%Eth0]:443":       {"https://[FE80::A%25Eth0]", "https://[fe80:0::a%25Eth0]:443"},
		"sock":                     {"unix://Sock/", "unix://sock."},
		"sock:7":                   {"unix://sock:7"},
	} {
		for _, u := range spelled {
			testkit.Equal(t, u, hostAsked(t, request(t.Context(), u)), want)
		}
	}
	names := make(map[string]bool)
	for _, host := range []string{"ü\xff", "ü b", "ü/b", "ü\n", ""} { // cannot be sent, and are told apart
		r := request(t.Context(), "unix://a")
		r.URL.Host = host
		names[hostAsked(t, r)] = true
	}
	testkit.Equal(t, "hosts that cannot be sent", len(names), 5)
}

// hostAsked returns the host for which r makes a limiter, once.
func hostAsked(t *testing.T, r *http.Request) (asked string) {
	tr := &httplimit.Transport{
		Base:    base(func(*http.Request) (*http.Response, error) { return answer(204), nil }),
		PerHost: func(host string) *stint.Limiter { asked += host; return nil },
	}
	for range 2 {
		if _, err := tr.RoundTrip(r); err != nil {
			t.Error(err)
		}
	}
	return asked
}
