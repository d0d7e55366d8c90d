package httplimit_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/httplimit"
)

// A handler under a limit: one request runs, none waits.
func ExampleHandler() {
	arrived, finish := make(chan struct{}), make(chan struct{})
	slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-finish
		fmt.Fprint(w, "done")
	})
	h := httplimit.Handler(slow, stint.Limit(1), 0)

	first, second := httptest.NewRecorder(), httptest.NewRecorder()
	var clients sync.WaitGroup
	clients.Go(func() { h.ServeHTTP(first, httptest.NewRequest("GET", "/", nil)) })
	<-arrived
	h.ServeHTTP(second, httptest.NewRequest("GET", "/", nil))
	close(finish)
	clients.Wait()
	fmt.Println(first.Code, first.Body)
	fmt.Println(second.Code, strings.TrimSpace(second.Body.String()))
	// Output:
	// 200 done
	// 503 Service Unavailable
}

// A client with an adaptive limit for each host.
func ExampleTransport() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "page of ", r.URL.Path)
	}))
	defer server.Close()
	client := &http.Client{Transport: &httplimit.Transport{
		PerHost: func(host string) *stint.Limiter { return stint.Auto(1, 20) },
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
		text, err := io.ReadAll(resp.Body)
		return string(text), err
	}

	pages, err := stint.Map(context.Background(), []string{"/a", "/b"}, get)
	fmt.Println(pages, err)
	// Output: [page of /a page of /b] <nil>
}

func ExampleTransport_RoundTrip() {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	limit := stint.Limit(1)
	transport := &httplimit.Transport{Limiter: limit}

	req, _ := http.NewRequest("GET", server.URL, nil)
	resp, err := transport.RoundTrip(req)
	fmt.Println(resp.StatusCode, err, limit.Stats().Running)
	resp.Body.Close()
	fmt.Println(limit.Stats().Running)
	// Output:
	// 404 <nil> 1
	// 0
}

func ExampleTransport_CloseIdleConnections() {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	client := &http.Client{Transport: &httplimit.Transport{Limiter: stint.Limit(1), Base: new(http.Transport)}}
	resp, err := client.Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	resp.Body.Close()
	client.CloseIdleConnections() // calls the Transport's
	fmt.Println(resp.StatusCode)
	// Output: 404
}
