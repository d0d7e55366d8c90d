package par_test

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/stint-go/stint/par"
)

func ExampleSort() {
	temperatures := []float64{21.5, -3, 14.25, 0, -7.5}
	par.Sort(temperatures)
	fmt.Println(temperatures)
	// Output: [-7.5 -3 0 14.25 21.5]
}

func ExampleSortFunc() {
	type city struct {
		name   string
		people int
	}
	cities := []city{{"Oslo", 724_000}, {"Bergen", 294_000}, {"Trondheim", 217_000}, {"Bodø", 294_000}}
	par.SortFunc(cities, func(a, b city) int {
		return cmp.Or(cmp.Compare(b.people, a.people), strings.Compare(a.name, b.name))
	})
	for _, c := range cities {
		fmt.Println(c.name, c.people)
	}
	// Output:
	// Oslo 724000
	// Bergen 294000
	// Bodø 294000
	// Trondheim 217000
}
