package before_test

import (
	"context"
	"fmt"
	"sync"
)

// Workers, channels and a WaitGroup: a parallel map by hand, that ends at the first error.
func Example_channels() {
	pages := []string{"/", "/about", "/news"}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()

	type result struct {
		i, size int
		err     error
	}
	jobs, results := make(chan int), make(chan result)
	var workers sync.WaitGroup
	for range 8 {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := range jobs {
				size, err := pageSize(ctx, pages[i])
				results <- result{i, size, err}
			}
		}()
	}
	go func() { // not here: nobody would receive the results
		defer close(jobs) // ends the workers
		for i := range pages {
			select {
			case jobs <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	go func() {
		workers.Wait()
		close(results) // ends the loop below
	}()

	sizes := make([]int, len(pages))
	var err error
	for r := range results { // to the end, also after an error: the workers would block
		if r.err != nil && err == nil {
			err = r.err
			cancel()
		}
		sizes[r.i] = r.size
	}
	fmt.Println(sizes, err)
	// Output: [1 6 5] <nil>
}
