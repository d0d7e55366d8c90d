package option_test

import (
	"math"
	"testing"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
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
	limiter := &bounded{option.NewBound(limit.New(1), nil)}
	burst := option.Func(func(o *option.Options) { o.Given |= option.Burst; o.Burst = 1 })
	for _, c := range []struct {
		want string
		opts []option.Option
	}{
		{"nil Option", []option.Option{(*bounded)(nil), nil}},
		{"nil bounded", []option.Option{limiter, (*bounded)(nil)}},
		{"Limiter was not made by Limit or Auto", []option.Option{new(bounded)}},
		{"Queue does not apply", []option.Option{queue(1)}},
		{"Burst and a Limiter that was made by Limit: it does not search; want one made by Auto", []option.Option{limiter, burst}},
	} {
		func() {
			defer func() {
				if got, want := recover(), "stream: ParMap: "+c.want; got != any(want) {
					t.Errorf("got %v, want %q", got, want)
				}
			}()
			option.Collect("stream", "ParMap", option.Limiter|option.Burst, c.opts)
		}()
	}
}

// Given twice, the later one counts.
func TestLaterOptionCounts(t *testing.T) {
	first, second := limit.New(1), limit.New(2)
	opts := []option.Option{queue(1), &bounded{option.NewBound(first, nil)}, queue(0), &bounded{option.NewBound(second, nil)}}
	o := option.Collect("stint", "Each", option.Limiter|option.Queue, opts)
	if o.Limiter != second || o.Limit() != 2 || o.Room(7) != 0 {
		t.Errorf("got a limit of %d and a queue of %d, want 2 and 0", o.Limit(), o.Room(7))
	}
}

// A call without options reads none, and allocates nothing for that.
func TestNoOptionsCostNothing(t *testing.T) {
	room := 0
	allocs := testing.AllocsPerRun(100, func() {
		o := option.Collect("stint", "Each", 0, []option.Option(nil))
		room = o.Room(7)
	})
	if allocs != 0 || room != 7 {
		t.Errorf("got %v allocations and a queue of %d, want 0 and 7", allocs, room)
	}
}

// Numbers that cannot be multiplied are taken for smaller ones, wherever they enter.
func TestSearchIsClipped(t *testing.T) {
	const most = 1 << 24
	for _, c := range []struct{ min, max, burst, start int }{
		{1, math.MaxInt, 0, 12},
		{1, math.MaxInt, math.MaxInt, most / 3},
		{1, math.MaxInt, math.MaxInt/2 + 1, most / 3},
		{math.MaxInt - 1, math.MaxInt, 0, most},
		{math.MaxInt/2 + 1, math.MaxInt, math.MaxInt, most},
		{most, most, 0, most},
		{most - 1, most - 1, 0, most - 1},
		{1 << 30, 1 << 30, 1, most},
		{1, 1, math.MaxInt, 1},
	} {
		if got := option.Search(c.min, c.max, c.burst, 2).Start(); got != c.start {
			t.Errorf("Search(%d, %d, %d) starts with %d, want %d", c.min, c.max, c.burst, got, c.start)
		}
		if c.burst == 0 {
			continue
		}
		// Beside a limiter, which has its search already.
		l, controller := limit.New(1), new(auto.Controller)
		controller.Init(option.Search(c.min, c.max, 0, 2), l)
		burst := option.Func(func(o *option.Options) { o.Given |= option.Burst; o.Burst = c.burst })
		option.Collect("stint", "Each", option.Limiter|option.Burst, []option.Option{&bounded{option.NewBound(l, controller)}, burst})
		if l.Bound() != c.start {
			t.Errorf("a search between %d and %d with Burst(%d) starts with %d, want %d", c.min, c.max, c.burst, l.Bound(), c.start)
		}
	}
}
