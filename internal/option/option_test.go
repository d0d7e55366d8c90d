package option_test

import (
	"testing"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
	"github.com/stint-go/stint/internal/testkit"
)

// bounded is what a public package makes a Limiter of.
type bounded struct{ option.Bound }

// queue returns the option Queue.
func queue(n int) option.Option {
	return option.Func(func(o *option.Options) { o.Given |= option.Queue; o.Queue = n })
}

// A panic about wrong options names the function that they were given to, and its
// package.
func TestCollectNamesItsCaller(t *testing.T) {
	limiter := &bounded{option.NewBound(limit.New(1))}
	for _, c := range []struct {
		want string
		opts []option.Option
	}{
		{"nil Option", []option.Option{nil}},
		{"nil bounded", []option.Option{limiter, (*bounded)(nil)}},
		{"Limiter was not made by Limit or Auto", []option.Option{new(bounded)}},
		{"Queue does not apply", []option.Option{queue(1)}},
	} {
		got := testkit.Recovered(func() { option.Collect("stream", "ParMap", option.Limiter, c.opts) })
		testkit.Equal(t, "panic", got, any("stream: ParMap: "+c.want))
	}
}

// Given twice, the later one counts.
func TestLaterOptionCounts(t *testing.T) {
	first, second := limit.New(1), limit.New(2)
	opts := []option.Option{queue(1), &bounded{option.NewBound(first)}, queue(0), &bounded{option.NewBound(second)}}
	o := option.Collect("stint", "Each", option.Limiter|option.Queue, opts)
	if o.Limiter != second || o.Limit() != 2 || o.Room(7) != 0 {
		t.Errorf("got a limit of %d and a queue of %d, want 2 and 0", o.Limit(), o.Room(7))
	}
}
