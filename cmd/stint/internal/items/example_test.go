package items

import (
	"context"
	"fmt"
)

func ExampleItems() {
	it, err := Open(Options{Lists: [][]string{{"a", "b"}, {"1", "2"}}})
	if err != nil {
		panic(err)
	}
	fmt.Println(it.Total())
	for job := range it.Seq(context.Background()) {
		fmt.Println(job)
	}
	// Output:
	// 4
	// [a 1]
	// [a 2]
	// [b 1]
	// [b 2]
}
