package stream_test

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// Read, parse, query a server for each record, and insert in batches.
func Example() {
	lines := strings.Lines("3 apples\n5 pears\n7 plums\n")
	price := func(_ context.Context, line string) (int, error) { // as from a server
		number, _, _ := strings.Cut(line, " ")
		return strconv.Atoi(number)
	}

	prices := stream.ParMap(stream.FromSeq(lines), price, stint.Limit(2))
	double := stream.Map(prices, func(n int) int { return 2 * n })
	rows := stream.Chunk(double, 2, 10*time.Millisecond)
	err := stream.Each(context.Background(), rows, func(rows []int) error {
		fmt.Println("insert", rows)
		return nil
	})
	fmt.Println(err)
	// Output:
	// insert [6 10]
	// insert [14]
	// <nil>
}

func double(n int) int { return 2 * n }

func even(n int) bool { return n%2 == 0 }

func number(_ context.Context, s string) (int, error) { return strconv.Atoi(s) }

func add(a, b int) int { return a + b }

func ExampleStream() {
	s := stream.Map(stream.From([]int{1, 2, 3}), double) // nothing runs yet
	for range 2 {
		fmt.Println(stream.Collect(context.Background(), s))
	}
	// Output:
	// [2 4 6] <nil>
	// [2 4 6] <nil>
}

func ExampleStream_All() {
	for n, err := range stream.MapErr(stream.From([]string{"1", "2", "x", "4"}), number).All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(n)
	}
	// Output:
	// 1
	// 2
	// strconv.Atoi: parsing "x": invalid syntax
}

func ExampleFrom() {
	fmt.Println(stream.Collect(context.Background(), stream.From([]int{1, 2, 3})))
	// Output: [1 2 3] <nil>
}

func ExampleFromSeq() {
	ages := map[string]int{"ann": 30, "bob": 40}
	sum, err := stream.Reduce(context.Background(), stream.FromSeq(maps.Values(ages)), 0, add)
	fmt.Println(sum, err)
	// Output: 70 <nil>
}

func ExampleFromChan() {
	c := make(chan int, 10)
	for i := range 10 {
		c <- i
	}
	close(c)
	fmt.Println(stream.Collect(context.Background(), stream.Take(stream.FromChan(c), 3)))
	fmt.Println(len(c))
	// Output:
	// [0 1 2] <nil>
	// 7
}

func ExampleGenerate() {
	ticks := stream.Generate(func(ctx context.Context, emit func(time.Duration) bool) error {
		t := time.NewTicker(time.Millisecond)
		defer t.Stop()
		for n := 1; ; n++ {
			select {
			case <-t.C:
			case <-ctx.Done():
				return ctx.Err()
			}
			if !emit(time.Duration(n) * time.Millisecond) {
				return nil
			}
		}
	})
	fmt.Println(stream.Collect(context.Background(), stream.Take(ticks, 3)))
	// Output: [1ms 2ms 3ms] <nil>
}

// A source that blocks: its context ends at the error of a task.
func ExampleGenerate_queue() {
	messages := make(chan string, 2)
	messages <- "stand"
	messages <- "jump" // and never another one
	incoming := stream.Generate(func(ctx context.Context, emit func(string) bool) error {
		for {
			select {
			case m := <-messages:
				if !emit(m) {
					return nil
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	})

	obeyed := stream.ParMap(incoming, func(_ context.Context, m string) (string, error) {
		if m != "stand" {
			return "", fmt.Errorf("%q is no command", m)
		}
		return m, nil
	})
	fmt.Println(stream.Collect(context.Background(), obeyed))
	// Output: [stand] "jump" is no command
}

// A sequence that can fail, as the results of stint.MapSeq.
func ExampleGenerate_seq2() {
	rows := func(yield func(string, error) bool) { // as from a database
		_ = yield("first", nil) && yield("second", nil) && yield("", errors.New("connection lost"))
	}
	fmt.Println(stream.Collect(context.Background(), stream.Generate(func(_ context.Context, emit func(string) bool) error {
		for row, err := range rows {
			if err != nil || !emit(row) {
				return err
			}
		}
		return nil
	})))
	// Output: [first second] connection lost
}

// A CSV file is a source that can fail.
func ExampleGenerate_csv() {
	r := csv.NewReader(strings.NewReader("ann,3\nbob,5\n\"cem,7\n")) // a quote is not closed
	records := stream.Generate(func(_ context.Context, emit func([]string) bool) error {
		for {
			record, err := r.Read()
			if err == io.EOF {
				return nil
			}
			if err != nil || !emit(record) {
				return err
			}
		}
	})
	insert := func(_ context.Context, record []string) (string, error) { // as into a database
		return record[0] + " has " + record[1], nil
	}
	for done, err := range stream.ParMap(records, insert, stint.Limit(8)).All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(done)
	}
	// Output:
	// ann has 3
	// bob has 5
	// parse error on line 3, column 8: extraneous or missing " in quoted-field
}

// Tasks are pushed one by one, and their results come in that order.
func ExampleGenerate_push() {
	type task func(context.Context) (string, error)
	tasks := stream.Generate(func(_ context.Context, push func(task) bool) error {
		for i, name := range []string{"ann", "bob", "cem"} {
			greet := func(context.Context) (string, error) {
				time.Sleep(time.Duration(3-i) * time.Millisecond) // the last one is done first
				return "hello " + name, nil
			}
			if !push(greet) { // waits for room
				break
			}
		}
		return nil
	})
	run := func(ctx context.Context, t task) (string, error) { return t(ctx) }
	for text, err := range stream.ParMap(tasks, run, stint.Limit(3)).All(context.Background()) {
		fmt.Println(text, err)
	}
	// Output:
	// hello ann <nil>
	// hello bob <nil>
	// hello cem <nil>
}

func ExampleMap() {
	fmt.Println(stream.Collect(context.Background(), stream.Map(stream.From([]int{1, 2, 3}), double)))
	// Output: [2 4 6] <nil>
}

func ExampleMapErr() {
	fmt.Println(stream.Collect(context.Background(), stream.MapErr(stream.From([]string{"7", "eight", "9"}), number)))
	// Output: [7] strconv.Atoi: parsing "eight": invalid syntax
}

func ExampleFilter() {
	fmt.Println(stream.Collect(context.Background(), stream.Filter(stream.From([]int{1, 2, 3, 4}), even)))
	// Output: [2 4] <nil>
}

func ExampleFlatMap() {
	words := stream.FlatMap(stream.From([]string{"a stitch in", "time"}), func(line string) iter.Seq[string] {
		return strings.FieldsSeq(line)
	})
	all, err := stream.Collect(context.Background(), words)
	fmt.Printf("%q %v\n", all, err)
	// Output: ["a" "stitch" "in" "time"] <nil>
}

func ExampleParMap() {
	// Without an option the limit is adaptive.
	lengths := stream.ParMap(stream.From([]string{"one", "three", ""}), func(_ context.Context, s string) (int, error) {
		if s == "" {
			return 0, errors.New("empty")
		}
		return len(s), nil
	})
	fmt.Println(stream.Collect(context.Background(), lengths))
	// Output: [3 5] empty
}

// Messages of a customer are handled one after the other, and those of different customers
// concurrently. The results are in input order.
func ExampleParMapKey() {
	messages := stream.From([]string{"ann pays", "bob pays", "ann leaves"})
	customer := func(m string) string { name, _, _ := strings.Cut(m, " "); return name }
	handle := func(_ context.Context, m string) (string, error) { return strings.ToUpper(m), nil }
	fmt.Println(stream.Collect(context.Background(), stream.ParMapKey(messages, customer, handle, stint.Limit(2))))
	// Output: [ANN PAYS BOB PAYS ANN LEAVES] <nil>
}

// An error that is part of the record does not end the stream.
func ExampleParMap_goOn() {
	type parsed struct {
		number int
		err    error
	}
	var wrong []error // of one goroutine: the stages behind the ParMap are all on this one
	s := stream.ParMap(stream.From([]string{"1", "two", "3"}), func(_ context.Context, s string) (parsed, error) {
		n, err := strconv.Atoi(s)
		return parsed{n, err}, nil
	})
	right := stream.Filter(s, func(p parsed) bool {
		if p.err != nil {
			wrong = append(wrong, p.err)
		}
		return p.err == nil
	})
	sum, err := stream.Reduce(context.Background(), right, 0, func(sum int, p parsed) int { return sum + p.number })
	fmt.Println(sum, err, wrong)
	// Output: 4 <nil> [strconv.Atoi: parsing "two": invalid syntax]
}

func ExampleBuffer() {
	// Up to 100 records are read ahead while others are processed.
	s := stream.Map(stream.Buffer(stream.From([]int{1, 2, 3}), 100), double)
	fmt.Println(stream.Collect(context.Background(), s))
	// Output: [2 4 6] <nil>
}

func ExampleChunk() {
	// Insert 2 rows at a time, or fewer after 10 ms.
	err := stream.Each(context.Background(), stream.Chunk(stream.From([]int{1, 2, 3, 4, 5}), 2, 10*time.Millisecond), func(rows []int) error {
		fmt.Println("insert", rows)
		return nil
	})
	fmt.Println(err)
	// Output:
	// insert [1 2]
	// insert [3 4]
	// insert [5]
	// <nil>
}

func ExampleMerge() {
	all, err := stream.Collect(context.Background(), stream.Merge(stream.From([]int{1, 2}), stream.From([]int{3})))
	slices.Sort(all) // in no order
	fmt.Println(all, err)
	// Output: [1 2 3] <nil>
}

func ExampleTake() {
	naturals := func(yield func(int) bool) {
		for n := 0; yield(n); n++ {
		}
	}
	fmt.Println(stream.Collect(context.Background(), stream.Take(stream.FromSeq(naturals), 3)))
	// Output: [0 1 2] <nil>
}

func ExampleCollect() {
	fmt.Println(stream.Collect(context.Background(), stream.Map(stream.From([]int{1, 2}), strconv.Itoa)))
	// Output: [1 2] <nil>
}

func ExampleEach() {
	err := stream.Each(context.Background(), stream.From([]int{1, 2, 3}), func(n int) error {
		if n == 2 {
			return errors.New("two")
		}
		fmt.Println(n)
		return nil
	})
	fmt.Println(err)
	// Output:
	// 1
	// two
}

func ExampleReduce() {
	fmt.Println(stream.Reduce(context.Background(), stream.From([]int{1, 2, 3}), 0, add))
	// Output: 6 <nil>
}
