package par_test

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/stint-go/stint"
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

func ExampleRangeWith() {
	text := []byte("to stint is to keep within a limit")
	counts := par.RangeWith(len(text),
		func() []int { return make([]int, 256) },
		func(count []int, lo, hi int) {
			for _, b := range text[lo:hi] {
				count[b]++
			}
		})
	total := counts[0]
	for _, count := range counts[1:] {
		for b, n := range count {
			total[b] += n
		}
	}
	fmt.Println(total['t'], total['i'], total['k'])
	// Output: 6 6 1
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
func Example_panic() {
	defer func() {
		err := recover().(*stint.PanicError)
		fmt.Println(err.Value, errors.Is(err, errOdd), strings.Contains(string(err.Stack), "Example_panic"))
	}()
	par.Each([]int{2, 4, 5, 6}, func(n *int) {
		if *n%2 == 1 {
			panic(errOdd)
		}
	})
	// Output: odd true true
}

var errOdd = errors.New("odd")

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
