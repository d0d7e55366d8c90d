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
		PerHost: func(host string) *stint.Limiter { return stint.Auto(1, 20) }, // called once for each host
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
