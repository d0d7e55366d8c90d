// Command start prints the sizes of web pages, and reads up to eight at a time.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"

	"github.com/stint-go/stint"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) // Ctrl-C cancels the requests
	defer stop()
	urls := os.Args[1:]
	sizes, err := stint.Map(ctx, urls, size, stint.Limit(8))
	if err != nil {
		log.Fatal(err) // the first error; it has cancelled the other requests
	}
	for i, url := range urls {
		fmt.Println(sizes[i], url)
	}
}

// size returns how many bytes a page has.
func size(ctx context.Context, url string) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	return io.Copy(io.Discard, resp.Body)
}
