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

// A host has a limiter of its own, made once.
func TestTransportPerHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made sync.Map
		var calls atomic.Int32
		var g [3]testkit.Gauge
		tr := &httplimit.Transport{
			PerHost: func(host string) *stint.Limiter {
				calls.Add(1)
				runtime.Gosched() // others ask meanwhile; in a bubble they must not wait for this for long
				if host == "2.example:80" {
					return nil
				}
				l := stint.Limit(2)
				if _, again := made.LoadOrStore(host, l); again {
					t.Errorf("%s has two limiters", host)
				}
				return l
			},
			Base: base(func(r *http.Request) (*http.Response, error) {
				g[r.URL.Host[0]-'0'].Hold(time.Second)
				return answer(200), nil
			}),
		}
		var requests sync.WaitGroup
		for i := range 30 {
			requests.Go(func() {
				resp, err := tr.RoundTrip(request(t.Context(), fmt.Sprintf("http://%d.example/", i%3)))
				testkit.Equal(t, "error", err, nil)
				resp.Body.Close()
			})
		}
		requests.Wait()
		testkit.Equal(t, "calls of PerHost", calls.Load(), 3)
		for i, want := range []int{2, 2, 10} {
			testkit.Equal(t, fmt.Sprintf("requests to host %d at once", i), g[i].Max(), want)
		}
		testkit.Equal(t, "time passed", testkit.SinceBubble(), 5*time.Second)
	})
}

// PerHost may take its time. Requests to the host wait for it, in virtual time too, and may
// give up; requests to other hosts do not.
func TestTransportPerHostTakesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &httplimit.Transport{
			Base: base(func(*http.Request) (*http.Response, error) { return answer(204), nil }),
			PerHost: func(host string) *stint.Limiter {
				if host == "slow.example:80" {
					time.Sleep(time.Minute)
				}
				return stint.Limit(1)
			},
		}
		var requests sync.WaitGroup
		send := func(ctx context.Context, host string, after time.Duration, want error) {
			requests.Go(func() {
				_, err := tr.RoundTrip(request(ctx, "http://"+host))
				testkit.Equal(t, host+": error", err, want)
				testkit.Equal(t, host+": time passed", testkit.SinceBubble(), after)
			})
			synctest.Wait()
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errBroken)
		defer cancel()
		send(t.Context(), "slow.example", time.Minute, nil)
		send(t.Context(), "slow.example", time.Minute, nil)
		send(ctx, "slow.example", time.Second, errBroken)
		send(t.Context(), "fast.example", 0, nil)
		requests.Wait()
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
					testkit.Recovered(func() {
						if _, err := get(tr); err == nil {
							answers.Add(1)
						}
					})
				})
				synctest.Wait()
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
		"a.example:80":                          {"http://a.example/", "http://A.Example:80", "http://a.example:080", "http://a.example.", "http://a.example.:0080/", "http://a.example:"},
		"a.example:443":                         {"https://a.example", "https://a.example:443/", "https://A.EXAMPLE.:00443"},
		"a.example:8080":                        {"http://a.example:8080", "https://a.example:08080"},
		"a.example:0":                           {"http://a.example:0", "http://a.example:00"},
		"xn--bcher-kva.example:80":              {"http://bücher.example", "http://BÜCHER.Example.:80", "http://xn--bcher-kva.example", "http://XN--Bcher-KVA.example", "http://b%C3%BCcher.example"},
		"xn--p1b6ci4b4b3a.xn--11b5bs3a9aj6g:80": {"http://उदाहरण.परीक्षा", "http://xn--p1b6ci4b4b3a.xn--11b5bs3a9aj6g:80"},
		"127.0.0.1:80":                          {"http://127.0.0.1", "http://[::ffff:127.0.0.1]:80", "http://[::FFFF:7f00:1]"},
		"[::1]:80":                              {"http://[::1]/", "http://[::1]:80/", "http://[0:0:0:0:0:0:0:1]", "http://[0000::0001]:080"},
		"[fe80::a%En0]:80":                      {"http://[fe80::a%25En0]", "http://[FE80:0::A%25En0]:80"},
		"[fe80::a%en0]:80":                      {"http://[fe80::a%25en0]"},
		"sock":                                  {"unix://Sock/", "unix://sock."},
		"[::1]":                                 {"unix://[0::1]"},
		"sock:7":                                {"unix://sock:07"},
	} {
		for _, u := range spelled {
			var hosts []string
			tr := &httplimit.Transport{
				Base:    base(func(*http.Request) (*http.Response, error) { return answer(204), nil }),
				PerHost: func(host string) *stint.Limiter { hosts = append(hosts, host); return nil },
			}
			for range 2 {
				if _, err := tr.RoundTrip(request(t.Context(), u)); err != nil {
					t.Error(err)
				}
			}
			testkit.Equal(t, u, fmt.Sprint(hosts), "["+want+"]")
		}
	}
}

// Hosts that cannot be sent are told apart.
func TestTransportBrokenHosts(t *testing.T) {
	asked := 0
	tr := &httplimit.Transport{
		Base:    base(func(*http.Request) (*http.Response, error) { return nil, errBroken }),
		PerHost: func(string) *stint.Limiter { asked++; return nil },
	}
	for i, host := range []string{"ü\xff", "ü b", "ü/b", "ü\n", ""} {
		r := request(t.Context(), "http://a.example")
		r.URL.Host = host
		_, err := tr.RoundTrip(r)
		testkit.Equal(t, "error", err, error(errBroken))
		testkit.Equal(t, fmt.Sprintf("calls of PerHost after %q", host), asked, i+1)
	}
}
