package recipes_test

import (
	"context"
	"testing"
	"time"

	"github.com/stint-go/stint/advise"
)

var urls = make([]string, 100)

func fetch(context.Context, string) error {
	time.Sleep(time.Millisecond) // as a request does
	return nil
}

func TestFetchConcurrently(t *testing.T) {
	report, err := advise.Run(t.Context(), len(urls), func(ctx context.Context, i int) error {
		return fetch(ctx, urls[i])
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(report)
}
