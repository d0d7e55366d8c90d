package before_test

import (
	"context"
	"fmt"

	"github.com/alitto/pond/v2"
)

// One pool for the whole program; each request is a group on it.
func Example_pond() {
	workers := pond.NewResultPool[int](8)
	defer workers.StopAndWait()

	answer := func(ctx context.Context, pages ...string) ([]int, error) {
		g := workers.NewGroupContext(ctx)
		for _, page := range pages {
			g.SubmitErr(func() (int, error) {
				return pageSize(ctx, page)
			})
		}
		return g.Wait()
	}
	fmt.Println(answer(context.Background(), "/", "/about"))
	fmt.Println(answer(context.Background(), "/news"))
	// Output:
	// [1 6] <nil>
	// [5] <nil>
}
