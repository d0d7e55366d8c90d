package before_test

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// pageSize returns the size of a page, as from a server.
func pageSize(_ context.Context, page string) (int, error) { return len(page), nil }

// Sizes of pages, eight concurrently; the first error ends it.
func Example_errgroup() {
	pages := []string{"/", "/about", "/news"}
	sizes := make([]int, len(pages))
	g, ctx := errgroup.WithContext(context.Background())
	g.SetLimit(8)
	for i, page := range pages {
		g.Go(func() error {
			n, err := pageSize(ctx, page)
			sizes[i] = n
			return err
		})
	}
	err := g.Wait()
	fmt.Println(sizes, err)
	// Output: [1 6 5] <nil>
}
