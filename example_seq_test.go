package stint_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/stint-go/stint"
)

// Lines of a text, as they are read. It may be longer than memory.
func ExampleEachSeq() {
	log := "GET /a\nGET /b\nPOST /a\nGET /c\n"
	var posts atomic.Int32
	err := stint.EachSeq(context.Background(), strings.Lines(log), func(_ context.Context, line string) error {
		if strings.HasPrefix(line, "POST ") {
			posts.Add(1)
		}
		return nil
	}, stint.Limit(2))
	fmt.Println(posts.Load(), err)
	// Output: 1 <nil>
}

// The results come in the order of the input, as soon as they are there.
func ExampleMapSeq() {
	fields := strings.SplitSeq("3,1,4,1,5", ",")
	square := func(_ context.Context, s string) (int, error) {
		n, err := strconv.Atoi(s)
		return n * n, err
	}

	for n, err := range stint.MapSeq(context.Background(), fields, square, stint.Limit(2)) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(n)
	}
	// Output:
	// 9
	// 1
	// 16
	// 1
	// 25
}

// Leave the loop at any time: what still runs is cancelled and waited for, and
// the sequence is told to end.
func ExampleMapSeq_break() {
	ended := false
	numbers := func(yield func(int) bool) { // without end
		defer func() { ended = true }()
		for n := 0; yield(n); n++ {
		}
	}
	square := func(_ context.Context, n int) (int, error) { return n * n, nil }

	for n := range stint.MapSeq(context.Background(), numbers, square, stint.Limit(4)) {
		if n > 50 {
			fmt.Println(n)
			break
		}
	}
	fmt.Println("the sequence has ended:", ended)
	// Output:
	// 64
	// the sequence has ended: true
}

// The first error comes once, at the end. With KeepGoing each comes at its
// place.
func ExampleMapSeq_error() {
	words := slices.Values([]string{"1", "two", "3"})
	parse := func(_ context.Context, s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil {
			return 0, errors.Unwrap(err)
		}
		return n, nil
	}

	for n, err := range stint.MapSeq(context.Background(), words, parse, stint.Limit(1)) {
		fmt.Println(n, err)
	}
	fmt.Println()
	for n, err := range stint.MapSeq(context.Background(), words, parse, stint.KeepGoing()) {
		fmt.Println(n, err)
	}
	// Output:
	// 1 <nil>
	// 0 invalid syntax
	//
	// 1 <nil>
	// 0 item 1: invalid syntax
	// 3 <nil>
}

func ExampleUnordered() {
	answered := make(chan struct{})
	ask := func(_ context.Context, server string) (string, error) {
		if server == "slow" {
			<-answered
		}
		return server, nil
	}

	servers := slices.Values([]string{"slow", "quick"})
	for server := range stint.MapSeq(context.Background(), servers, ask, stint.Limit(2), stint.Unordered()) {
		fmt.Println(server)
		if server == "quick" {
			close(answered)
		}
	}
	// Output:
	// quick
	// slow
}
