package before_test

import (
	"context"
	"fmt"

	"github.com/destel/rill"
)

// userNames returns the names of users, as from a server with batch requests.
func userNames(_ context.Context, ids []int) ([]string, error) {
	var out []string
	for _, id := range ids {
		out = append(out, fmt.Sprint("user ", id))
	}
	return out, nil
}

// Names of users in batches of two, three requests concurrently.
func Example_rill() {
	ids := rill.FromSlice([]int{1, 2, 3, 4, 5}, nil)
	batches := rill.OrderedMap(rill.Batch(ids, 2, -1), 3, func(ids []int) ([]string, error) {
		return userNames(context.Background(), ids)
	})
	err := rill.ForEach(rill.Unbatch(batches), 1, func(name string) error {
		fmt.Println(name)
		return nil
	})
	fmt.Println(err)
	// Output:
	// user 1
	// user 2
	// user 3
	// user 4
	// user 5
	// <nil>
}
