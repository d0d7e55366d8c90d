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

func TestOrder(t *testing.T) {
	ctx := context.Background()
	const n = 100
	square := func(_ context.Context, i int) (int, error) {
		time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond)
		return i * i, nil
	}
	var want []int // the sequential program
	for i := range n {
		want = append(want, i*i)
	}
	results := map[string]func(f func(context.Context, int) (int, error), opts ...stint.Option) ([]int, error){
		"Map": func(f func(context.Context, int) (int, error), opts ...stint.Option) ([]int, error) {
			return stint.Map(ctx, indexes(n), f, opts...)
		},
		"MapSeq": func(f func(context.Context, int) (int, error), opts ...stint.Option) (out []int, err error) {
			for v, e := range stint.MapSeq(ctx, count(n), f, opts...) {
				if e != nil {
					err = e
				} else if err == nil {
					out = append(out, v)
				} else {
					t.Error("a result after the error")
				}
			}
			return out, err
		},
		"Results": func(f func(context.Context, int) (int, error), opts ...stint.Option) ([]int, error) {
			r := stint.NewResults[int](ctx, opts...)
			for i := range n {
				r.Go(func(ctx context.Context) (int, error) { return f(ctx, i) })
			}
			return r.Wait()
		},
	}
	for name, collect := range results {
		t.Run(name, func(t *testing.T) {
			both(t, 7, func(t *testing.T, opt stint.Option, _ func(int)) {
				got, err := collect(square, opt)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("got %v, %v", got, err)
				}
			})
		})
	}
	t.Run("after an error", func(t *testing.T) {
		both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) { // at limit 1 it is known what was finished
			f := func(_ context.Context, i int) (int, error) {
				if i == 40 {
					return -1, errBoom
				}
				return i * i, nil
			}
			cut := make([]int, n)
			copy(cut, want[:40])
			got, err := results["Map"](f, opt)
			if err != errBoom || !slices.Equal(got, cut) {
				t.Errorf("Map: %v, %v", got, err)
			}
			got, err = results["MapSeq"](f, opt) // the sequential program again: 0 to 39, then the error
			if err != errBoom || !slices.Equal(got, want[:40]) {
				t.Errorf("MapSeq: %v, %v", got, err)
			}
			got, err = results["Results"](f, opt, stint.Queue(n))
			if err != errBoom || len(got) <= 40 || !slices.Equal(got, cut[:len(got)]) { // as long as what was accepted by then
				t.Errorf("Results: %v, %v", got, err)
			}
		})
	})
	t.Run("KeepGoing", func(t *testing.T) { // errors in the order of the items, values where they belong
		both(t, n, func(t *testing.T, opt stint.Option, _ func(int)) {
			f := func(_ context.Context, i int) (int, error) {
				time.Sleep(time.Duration(n-i) * time.Second) // all at once: they end in the opposite order
				if i%10 == 3 {
					return i * i, errBoom
				}
				return i * i, nil
			}
			holes := slices.Clone(want)
			text := ""
			for i := 3; i < n; i += 10 {
				holes[i] = 0
				text += fmt.Sprintf("\nitem %d: boom", i)
			}
			for _, name := range []string{"Map", "Results"} {
				got, err := results[name](f, opt, stint.KeepGoing())
				if !slices.Equal(got, holes) || fmt.Sprint("\n", err) != text {
					t.Errorf("%s: %v, %v", name, got, err)
				}
			}
			i := 0
			for v, err := range stint.MapSeq(ctx, count(n), f, opt, stint.KeepGoing()) {
				var item *stint.ItemError
				if i%10 == 3 && (!errors.As(err, &item) || item.Index != i || item.Err != errBoom || v != 0) ||
					i%10 != 3 && (err != nil || v != i*i) {
					t.Errorf("MapSeq: at %d: %v, %v", i, v, err)
				}
				i++
			}
			equal(t, "results of MapSeq", i, n)
		})
	})
	t.Run("Unordered", func(t *testing.T) { // as they come: the later the item, the sooner it is done
		both(t, n, func(t *testing.T, opt stint.Option, _ func(int)) {
			var got []int
			for v, err := range stint.MapSeq(ctx, count(n), func(_ context.Context, i int) (int, error) {
				time.Sleep(time.Duration(n-i) * time.Second)
				return i, nil
			}, opt, stint.Unordered()) {
				equal(t, "error", err, nil)
				got = append(got, v)
			}
			slices.Reverse(got)
			if !slices.Equal(got, indexes(n)) {
				t.Errorf("not as they came: %v", got)
			}
		})
	})
}
