package par_test

import (
	"cmp"
	"fmt"

	"github.com/stint-go/stint/par"
)

func ExampleSortStableFunc() {
	type entry struct {
		level int
		text  string
	}
	log := []entry{{2, "slow"}, {1, "lost"}, {2, "late"}, {0, "down"}, {1, "full"}}
	par.SortStableFunc(log, func(a, b entry) int { return cmp.Compare(a.level, b.level) })
	for _, e := range log {
		fmt.Println(e.level, e.text)
	}
	// Output:
	// 0 down
	// 1 lost
	// 1 full
	// 2 slow
	// 2 late
}
