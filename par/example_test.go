package par_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stint-go/stint/par"
)

func ExampleRange() {
	x := []float64{1, 2, 3, 4}
	y := []float64{10, 20, 30, 40}
	par.Range(len(x), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			y[i] += 2 * x[i]
		}
	})
	fmt.Println(y)
	// Output: [12 24 36 48]
}

func ExampleEach() {
	words := []string{"to", "stint", "is", "to", "keep", "within"}
	par.Each(words, func(w *string) {
		*w = strings.ToUpper(*w)
	})
	fmt.Println(words)
	// Output: [TO STINT IS TO KEEP WITHIN]
}

func ExampleMap() {
	words := []string{"to", "stint", "is", "to", "keep", "within"}
	fmt.Println(par.Map(words, func(w string) int { return len(w) }))
	// Output: [2 5 2 2 4 6]
}

func ExampleReduce() {
	words := []string{"to", "stint", "is", "to", "keep", "within"}
	count := par.Reduce(words,
		func() map[int]int { return map[int]int{} },
		func(of map[int]int, w string) map[int]int { of[len(w)]++; return of },
		func(a, b map[int]int) map[int]int {
			for length, n := range b {
				a[length] += n
			}
			return a
		})
	fmt.Println(count)
	// Output: map[2:3 4:1 5:1 6:1]
}

func ExampleFind() {
	words := []string{"to", "stint", "is", "to", "keep", "within"}
	fmt.Println(par.Find(words, func(w string) bool { return len(w) > 4 }))
	// Output: 1
}

// Whoever recovers finds the value and the stack of the call that panicked.
func ExamplePanicError() {
	defer func() {
		err := recover().(*par.PanicError)
		fmt.Println(err.Value, errors.Is(err, errOdd), strings.Contains(string(err.Stack), "ExamplePanicError"))
	}()
	par.Each([]int{2, 4, 5, 6}, func(n *int) {
		if *n%2 == 1 {
			panic(errOdd)
		}
	})
	// Output: odd true true
}

var errOdd = errors.New("odd")
