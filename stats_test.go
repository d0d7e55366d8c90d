package stint_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// The text is a promise: what reads it was written by others.
func TestStatsAreJSON(t *testing.T) {
	noon := time.Date(2001, 2, 3, 12, 0, 0, 5e8, time.UTC)
	for _, c := range []struct {
		value any
		text  string
	}{
		{stint.PoolStats{}, `{"limit":0,"running":0,"queued":0,"waiting":0,"workers":0,"idle":0,"completed":0,"failed":0,"dropped":0,"refused":0}`},
		{
			stint.PoolStats{Name: "mail", Limit: 1, Running: 2, Queued: 3, Waiting: 4, Workers: 5, Idle: 6, Completed: 1<<64 - 1, Failed: 7, Dropped: 8, Refused: 9},
			`{"name":"mail","limit":1,"running":2,"queued":3,"waiting":4,"workers":5,"idle":6,"completed":18446744073709551615,"failed":7,"dropped":8,"refused":9}`,
		},
		{stint.LimiterStats{}, `{"limit":0,"running":0,"waiting":0,"completed":0,"failed":0,"waited":0,"refused":0,"backoffs":0,"phase":""}`},
		{stint.LimiterStats{Limit: 1, Phase: "fixed"}, `{"limit":1,"running":0,"waiting":0,"completed":0,"failed":0,"waited":0,"refused":0,"backoffs":0,"phase":"fixed"}`},
		{
			stint.LimiterStats{
				Limit: 1, Running: 2, Waiting: 3, Phase: "holding", Reason: "overload with 12", Throughput: 0.5,
				History: []stint.LimitChange{{Time: noon, Limit: 4, Reason: "set by hand"}, {noon, 5, 1e6, "overload with 12"}},
			},
			`{"limit":1,"running":2,"waiting":3,"completed":0,"failed":0,"waited":0,"refused":0,"backoffs":0,"phase":"holding","reason":"overload with 12","throughput":0.5,"history":[` +
				`{"time":"2001-02-03T12:00:00.5Z","limit":4,"reason":"set by hand"},` +
				`{"time":"2001-02-03T12:00:00.5Z","limit":5,"throughput":1000000,"reason":"overload with 12"}]}`,
		},
	} {
		text, err := json.Marshal(c.value)
		if err != nil || string(text) != c.text {
			t.Errorf("%+v: got %s, %v; want %s", c.value, text, err, c.text)
		}
		back := reflect.New(reflect.TypeOf(c.value))
		if err := json.Unmarshal(text, back.Interface()); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got := back.Elem().Interface(); !reflect.DeepEqual(got, c.value) {
			t.Errorf("%s: got %+v, want %+v", text, got, c.value)
		}
	}
}

// A line for a log, or for a program that watches this one.
func ExamplePoolStats_json() {
	pool := stint.NewPool(stint.Limit(8), stint.Name("thumbnails"))
	for range 3 {
		pool.Go(func(context.Context) {})
	}
	pool.Close()
	json.NewEncoder(os.Stdout).Encode(pool.Stats())
	// Output: {"name":"thumbnails","limit":8,"running":0,"queued":0,"waiting":0,"workers":0,"idle":0,"completed":3,"failed":0,"dropped":0,"refused":0}
}

// What there is nothing of is left out: here a history.
func ExampleLimiterStats_json() {
	json.NewEncoder(os.Stdout).Encode(stint.Limit(8).Stats())

	server := stint.Auto(1, 100)
	server.Set(20)
	s := server.Stats()
	s.History[0].Time = time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC) // so that the output is always the same
	json.NewEncoder(os.Stdout).Encode(s)
	// Output:
	// {"limit":8,"running":0,"waiting":0,"completed":0,"failed":0,"waited":0,"refused":0,"backoffs":0,"phase":"fixed"}
	// {"limit":20,"running":0,"waiting":0,"completed":0,"failed":0,"waited":0,"refused":0,"backoffs":0,"phase":"fixed","reason":"set by hand","history":[{"time":"2001-02-03T04:05:06Z","limit":20,"reason":"set by hand"}]}
}

// A pool does not count the items of the calls on it; its limiter does.
func TestItemsCountInTheLimiter(t *testing.T) {
	l := stint.Limit(2)
	p := stint.NewPool(l)
	nothing := func(context.Context, int) error { return nil }
	for name, call := range map[string]func() error{
		"Each":  func() error { return stint.Each(context.Background(), make([]int, 10), nothing, p) },
		"Range": func() error { return stint.Range(context.Background(), 10, nothing, p) },
		"First": func() error {
			_, err := stint.First(context.Background(), make([]int, 10), func(context.Context, int) (int, error) { return 0, os.ErrNotExist }, p)
			if !errors.Is(err, os.ErrNotExist) {
				return err
			}
			return nil
		},
	} {
		before := l.Stats().Completed
		if err := call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := l.Stats().Completed - before; n != 10 {
			t.Errorf("%s: the limiter counts %d of 10 items", name, n)
		}
	}
	p.Close()
	if n := p.Stats().Completed; n != 0 {
		t.Errorf("the pool counts %d tasks", n)
	}
}
