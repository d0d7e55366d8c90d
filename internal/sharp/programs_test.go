//go:build race

package sharp

// A program makes shared state, and returns a task that uses it without a lock. numTasks of
// them run, each with its number.
type program struct {
	name string
	make func() func(i int)
}

const numTasks = 20

var programs = []program{
	{"counter", func() func(int) { n := 0; return func(int) { n++ } }},
	{"append", func() func(int) { var s []int; return func(i int) { s = append(s, i) } }},
	{"captured error", func() func(int) { var err error; return func(int) { err = errTask; _ = err } }},
	{"first of a kind", func() func(int) { // each tenth task writes, the others read
		var found *int
		return func(i int) {
			if found == nil || i%10 == 0 {
				found = new(i)
			}
		}
	}},
	{"check, then act", func() func(int) {
		stock := 5
		return func(int) {
			if stock > 0 {
				stock--
			}
		}
	}},
	{"largest", func() func(int) {
		largest := -1
		return func(i int) {
			if i > largest {
				largest = i
			}
		}
	}},
	{"wrong index", func() func(int) { r := make([]int, numTasks); return func(i int) { r[i/2] = i } }},
	{"neighbour", func() func(int) { r := make([]int, numTasks+1); return func(i int) { r[i+1] = r[i] + 1 } }},
}
