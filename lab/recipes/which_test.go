package recipes_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stint-go/stint/advise"
)

// The test of docs/which.md.
func TestFetchConcurrently(t *testing.T) {
	report, err := advise.Run(t.Context(), len(urls), func(ctx context.Context, i int) error {
		return fetch(ctx, urls[i])
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(report)
}

var urls = make([]string, 100)

func fetch(_ context.Context, url string) error {
	if time.Sleep(time.Millisecond); url != "" {
		return fmt.Errorf("%q is no address", url)
	}
	return nil
}
