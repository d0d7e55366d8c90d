package stint_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stint-go/stint"
)

// Calls that use the same server share a limit, and find it once for all of them.
func ExampleAuto() {
	server := stint.Auto(1, 100)
	fetch := func(_ context.Context, id int) (string, error) {
		time.Sleep(time.Millisecond)
		return fmt.Sprint("item ", id), nil
	}
	for range 2 {
		items, err := stint.Map(context.Background(), []int{1, 2, 3}, fetch, server)
		fmt.Println(items, err)
	}
	fmt.Println(server.Current() <= 100)
	// Output:
	// [item 1 item 2 item 3] <nil>
	// [item 1 item 2 item 3] <nil>
	// true
}

// Why the limit is what it is.
func ExampleLimitChange() {
	limit := stint.Auto(1, 100)
	stint.Range(context.Background(), 1000, func(context.Context, int) error {
		time.Sleep(time.Millisecond)
		return nil
	}, limit)
	for _, c := range limit.Stats().History {
		fmt.Println(c.Reason) // c.Time, c.Limit, c.Throughput
		break
	}

	limit.Set(20)
	s := limit.Stats()
	fmt.Printf("%d, %s: %s\n", s.Limit, s.Phase, s.Reason)
	// Output:
	// all places are taken: more may begin as tasks end
	// 20, fixed: set by hand
}

// A server that can bear little: four tasks begin before anything is known, one of them
// or as many as there are processors at once, the others when the first have ended.
func ExampleBurst() {
	err := stint.Range(context.Background(), 10, func(context.Context, int) error {
		time.Sleep(time.Millisecond)
		return nil
	}, stint.Burst(4))
	fmt.Println(err)
	// Output: <nil>
}

var errBusy = errors.New("429: too many requests")

// A server that says when it has too much to do.
func ExampleOverload() {
	busy := func(err error) bool { return errors.Is(err, errBusy) }
	slots := make(chan struct{}, 3)
	err := stint.Range(context.Background(), 10, func(context.Context, int) error {
		select {
		case slots <- struct{}{}:
			time.Sleep(time.Millisecond)
			<-slots
			return nil
		default:
			return errBusy
		}
	}, stint.Overload(busy), stint.KeepGoing())
	fmt.Println(err == nil || errors.Is(err, errBusy))
	// Output: true
}
