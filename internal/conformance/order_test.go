package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// ordered are the functions that return results in the order of the items 0 to n-1.
var ordered = map[string]func(n int, f func(context.Context, int) (int, error), opts ...stint.Option) ([]int, error){
	"Map": func(n int, f func(context.Context, int) (int, error), opts ...stint.Option) ([]int, error) {
		return stint.Map(bg, indexes(n), f, opts...)
	},
	"MapSeq": func(n int, f func(context.Context, int) (int, error), opts ...stint.Option) (out []int, err error) {
		for v, e := range stint.MapSeq(bg, count(n), f, opts...) {
			if item, ok := e.(*stint.ItemError); ok {
				err = errors.Join(err, item)
			} else if e != nil {
				return out, e
			}
			out = append(out, v)
		}
		return out, err
	},
	"Results": func(n int, f func(context.Context, int) (int, error), opts ...stint.Option) ([]int, error) {
		r := stint.NewResults[int](bg, opts...)
		for i := range n {
			r.Go(func(ctx context.Context) (int, error) { return f(ctx, i) })
		}
		return r.Wait()
	},
}

func TestOrder(t *testing.T) {
	const n = 100
	var want []int // the sequential program
	for i := range n {
		want = append(want, i*i)
	}
	square := func(_ context.Context, i int) (int, error) {
		time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond)
		return i * i, nil
	}
	for name, collect := range ordered {
		t.Run(name, func(t *testing.T) {
			both(t, 7, func(t *testing.T, opt stint.Option, _ func(int)) {
				got, err := collect(n, square, opt)
				equal(t, "error", err, nil)
				equal(t, "in order", slices.Equal(got, want), true)
			})
		})
		t.Run(name+" after an error", func(t *testing.T) {
			both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) { orderAfterAnError(t, name, want, opt) })
		})
		t.Run(name+" under KeepGoing", func(t *testing.T) {
			both(t, n, func(t *testing.T, opt stint.Option, _ func(int)) { orderUnderKeepGoing(t, name, want, opt) })
		})
	}
	t.Run("Unordered", func(t *testing.T) { // as they come: the later the item, the sooner it is done
		both(t, n, func(t *testing.T, opt stint.Option, _ func(int)) {
			got, err := ordered["MapSeq"](n, func(_ context.Context, i int) (int, error) {
				time.Sleep(time.Duration(n-i) * time.Second)
				return i, nil
			}, opt, stint.Unordered())
			slices.Reverse(got)
			if err != nil || !slices.Equal(got, indexes(n)) {
				t.Errorf("not as they came: %v, %v", got, err)
			}
		})
	})
}

// orderAfterAnError knows at limit 1 what was finished when item 40 fails: the slice of Map has an element
// for each item, that of Results for each task accepted by then, and a sequence ends with the error.
func orderAfterAnError(t *testing.T, name string, want []int, opt stint.Option) {
	opts := []stint.Option{opt}
	if name == "Results" {
		opts = append(opts, stint.Queue(len(want)))
	}
	got, err := ordered[name](len(want), func(_ context.Context, i int) (int, error) {
		if i == 40 {
			return -1, errBoom
		}
		return i * i, nil
	}, opts...)
	cut := make([]int, len(want))
	copy(cut, want[:40])
	least, most := map[string]int{"Map": len(want), "MapSeq": 40, "Results": 41}[name], map[string]int{"MapSeq": 40}[name]
	if most == 0 {
		most = len(want)
	}
	if err != errBoom || len(got) < least || len(got) > most || !slices.Equal(got, cut[:len(got)]) {
		t.Errorf("got %v, %v", got, err)
	}
}

// orderUnderKeepGoing has all items end in the opposite order: errors come in the order of the items, values
// where they belong.
func orderUnderKeepGoing(t *testing.T, name string, want []int, opt stint.Option) {
	n := len(want)
	got, err := ordered[name](n, func(_ context.Context, i int) (int, error) {
		time.Sleep(time.Duration(n-i) * time.Second)
		return i * i, []error{nil, nil, nil, errBoom, nil, nil, nil, nil, nil, nil}[i%10]
	}, opt, stint.KeepGoing())
	want = slices.Clone(want)
	text := ""
	for i := 3; i < n; i += 10 {
		want[i] = 0
		text += fmt.Sprintf("\nitem %d: boom", i)
	}
	if !slices.Equal(got, want) || fmt.Sprint("\n", err) != text {
		t.Errorf("got %v, %v", got, err)
	}
}
