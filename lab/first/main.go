// Command first runs the two programs of the README's first screen against a server of its own, and prints the median time of each.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"time"

	"github.com/stint-go/stint"
	"golang.org/x/sync/errgroup"
)

func main() {
	s := serve()
	defer s.Close()
	urls := make([]string, 1000)
	for i := range urls {
		urls[i] = fmt.Sprint(s.URL, "/", i)
	}
	for _, way := range ways {
		var took []float64
		for range 9 {
			began := time.Now()
			if _, err := way.get(context.Background(), urls); err != nil {
				log.Fatal(err)
			}
			took = append(took, time.Since(began).Seconds())
		}
		slices.Sort(took)
		fmt.Printf("%-33s %.2f s\n", way.name, took[len(took)/2])
	}
}

// ways are those of the README, and the one for which the best number must be known.
var ways = []struct {
	name string
	get  func(context.Context, []string) ([]string, error)
}{
	{"errgroup, a guess of 10", before},
	{"stint.Map, no number", after},
	{"stint.Map, with the right number", known},
}

func before(ctx context.Context, urls []string) ([]string, error) {
	pages := make([]string, len(urls))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(10) // a guess
	for i, url := range urls {
		g.Go(func() (err error) {
			pages[i], err = fetch(ctx, url)
			return err
		})
	}
	return pages, g.Wait()
}

func after(ctx context.Context, urls []string) ([]string, error) {
	return stint.Map(ctx, urls, fetch)
}

func known(ctx context.Context, urls []string) ([]string, error) {
	return stint.Map(ctx, urls, fetch, stint.Limit(atOnce))
}

// atOnce is how many pages the server serves at once.
const atOnce = 100

// serve starts a server that takes 50 ms for a page. Requests beyond those that it serves at once wait.
func serve() *httptest.Server {
	places := make(chan struct{}, atOnce)
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		places <- struct{}{}
		defer func() { <-places }()
		time.Sleep(50 * time.Millisecond)
		fmt.Fprint(w, "page of ", r.URL.Path)
	}))
}

// client keeps as many connections as stint may use.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}

func fetch(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		return "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}
