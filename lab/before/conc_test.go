package before_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sourcegraph/conc/pool"
	"github.com/sourcegraph/conc/stream"
)

// Sizes of pages, in a pool; the first error ends it.
func Example_concPool() {
	pages := []string{"/", "/about", "/news"}
	p := pool.NewWithResults[int]().WithMaxGoroutines(8).
		WithContext(context.Background()).WithCancelOnError().WithFirstError()
	for _, page := range pages {
		p.Go(func(ctx context.Context) (int, error) {
			return pageSize(ctx, page)
		})
	}
	sizes, err := p.Wait()
	slices.Sort(sizes) // in the order in which the tasks finished
	fmt.Println(sizes, err)
	// Output: [1 5 6] <nil>
}

// Results in the order of the input, while it is read.
func Example_concStream() {
	lines := strings.Lines("GET /a\nGET /b\nPUT /a\n")
	s := stream.New().WithMaxGoroutines(8)
	for line := range lines {
		s.Go(func() stream.Callback {
			n, err := pageSize(context.Background(), line)
			return func() { fmt.Println(n, err) }
		})
	}
	s.Wait()
	// Output:
	// 7 <nil>
	// 7 <nil>
	// 7 <nil>
}
