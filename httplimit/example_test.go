package httplimit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/httplimit"
)

// A handler that answers 503 at once when all permits are taken.
func ExampleHandler() {
	backend := stint.Limit(1)
	arrived, finish := make(chan struct{}), make(chan struct{})
	slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-finish
		fmt.Fprint(w, "done")
	})
	handler := httplimit.Handler(slow, backend, 0) // one request runs, none waits

	first, second := httptest.NewRecorder(), httptest.NewRecorder()
	var clients sync.WaitGroup
	clients.Go(func() { handler.ServeHTTP(first, httptest.NewRequest("GET", "/", nil)) })
	<-arrived
	handler.ServeHTTP(second, httptest.NewRequest("GET", "/", nil))
	close(finish)
	clients.Wait()
	fmt.Println(first.Code, first.Body)
	fmt.Println(second.Code, second.Header().Get("Retry-After"))
	// Output:
	// 200 done
	// 503 1
}

// A client that has a limit for each host.
func ExampleTransport() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "page of ", r.URL.Path)
	}))
	defer server.Close()
	client := &http.Client{Transport: &httplimit.Transport{
		PerHost: func(host string) *stint.Limiter { return stint.Auto(1, 20) }, // called by the first request to a host
	}}
	get := func(ctx context.Context, path string) (string, error) {
		req, err := http.NewRequestWithContext(ctx, "GET", server.URL+path, nil)
		if err != nil {
			return "", err
		}
		resp, err := client.Do(req)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close() // returns the permit
		if resp.StatusCode != http.StatusOK {
			return "", errors.New(resp.Status)
		}
		text, err := io.ReadAll(resp.Body)
		return string(text), err
	}

	paths := []string{"/a", "/b", "/c"}
	pages, err := stint.Map(context.Background(), paths, get, stint.Limit(len(paths)))
	fmt.Println(strings.Join(pages, ", "), err)
	// Output: page of /a, page of /b, page of /c <nil>
}

// A client that finds out how many requests a server takes at once, and retries what it refuses.
func ExampleTransport_retry() {
	var running atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer running.Add(-1)
		if running.Add(1) > 20 {
			http.Error(w, "too many", http.StatusTooManyRequests)
			return
		}
		time.Sleep(5 * time.Millisecond)
		fmt.Fprint(w, "page of ", r.URL.Path)
	}))
	defer server.Close()

	client := &http.Client{Transport: &httplimit.Transport{
		Limiter:     stint.Auto(1, 100),
		Retry:       10,
		RetryBudget: 100, // percent: of a job, rather than of a service, no page is to be missing
	}}
	get := func(ctx context.Context, url string) (string, error) {
		req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
		if err != nil {
			return "", err
		}
		resp, err := client.Do(req)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close() // returns the permit
		if resp.StatusCode != http.StatusOK {
			return "", errors.New(resp.Status)
		}
		text, err := io.ReadAll(resp.Body)
		return string(text), err
	}

	var urls []string
	for i := range 300 {
		urls = append(urls, fmt.Sprint(server.URL, "/", i))
	}
	pages, err := stint.Map(context.Background(), urls, get, stint.Limit(200)) // more than the Transport's
	fmt.Println(len(pages), "pages, the last:", pages[len(pages)-1], err)
	// Output: 300 pages, the last: page of /299 <nil>
}

// In an outage the budget keeps the retries from multiplying the load.
func ExampleTransport_retryBudget() {
	var arrived atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived.Add(1)
		http.Error(w, "down", http.StatusServiceUnavailable)
	}))
	defer server.Close()

	client := &http.Client{Transport: &httplimit.Transport{
		Limiter:     stint.Limit(20),
		Retry:       3,
		RetryBudget: 10, // percent
	}}
	stint.Range(context.Background(), 400, func(context.Context, int) error {
		resp, err := client.Get(server.URL)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}, stint.Limit(100))
	fmt.Println("400 requests,", arrived.Load()-400, "retries") // 10 percent, and 100
	// Output: 400 requests, 140 retries
}

// A handler whose task panics with http.ErrAbortHandler ends its response in silence.
func Example_abortHandler() {
	abort := func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if p, ok := v.(*stint.PanicError); ok && errors.Is(p, http.ErrAbortHandler) {
				v = http.ErrAbortHandler
			}
			if v != nil {
				panic(v)
			}
		}()
		err := stint.Range(r.Context(), 2, func(context.Context, int) error {
			panic(http.ErrAbortHandler) // as httputil.ReverseProxy does
		})
		fmt.Fprintln(w, err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(abort))
	var logged strings.Builder
	server.Config.ErrorLog = log.New(&logged, "", 0)
	server.Start()
	_, err := http.Get(server.URL)
	server.Close()
	fmt.Println(errors.Is(err, io.EOF), logged.String() == "")
	// Output: true true
}
