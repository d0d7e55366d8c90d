package stint_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

func count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

func TestSmoke(t *testing.T) {
	ctx := context.Background()
	for range 200 {
		got, err := stint.Map(ctx, []int{1, 2, 3, 4, 5, 6, 7, 8}, func(_ context.Context, i int) (int, error) { return i * i, nil })
		if err != nil || !slices.Equal(got, []int{1, 4, 9, 16, 25, 36, 49, 64}) {
			t.Fatal(got, err)
		}
		var n atomic.Int64
		g := stint.NewGroup(ctx, stint.Limit(3))
		for range 5000 {
			if !g.Go(func(context.Context) error { n.Add(1); return nil }) {
				t.Fatal("over")
			}
		}
		if err := g.Wait(); err != nil || n.Load() != 5000 {
			t.Fatal(err, n.Load())
		}
		p := stint.NewPool(stint.Limit(4))
		n.Store(0)
		for range 5000 {
			p.Go(func(context.Context) { n.Add(1) })
		}
		p.Close()
		if n.Load() != 5000 {
			t.Fatal(n.Load())
		}
		i := 0
		for r, err := range stint.MapSeq(ctx, count(1000), func(_ context.Context, i int) (int, error) { return i, nil }) {
			if r != i || err != nil {
				t.Fatal(r, i, err)
			}
			i++
		}
		if i != 1000 {
			t.Fatal(i)
		}
		n.Store(0)
		if err := stint.EachSeq(ctx, count(1000), func(_ context.Context, i int) error { n.Add(1); return nil }); err != nil || n.Load() != 1000 {
			t.Fatal(err, n.Load())
		}
	}
}

func TestSmokeNested(t *testing.T) {
	for name, mk := range map[string]func() stint.Option{"limit": func() stint.Option { return stint.Limit(1) }, "pool": func() stint.Option { return stint.NewPool(stint.Limit(1)) },
		"limit2": func() stint.Option { return stint.Limit(2) }, "pool2": func() stint.Option { return stint.NewPool(stint.Limit(2)) }} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := mk()
				if p, ok := o.(*stint.Pool); ok {
					defer p.Close()
				}
				var leaves atomic.Int64
				var walk func(ctx context.Context, depth int) error
				walk = func(ctx context.Context, depth int) error {
					if depth == 0 {
						leaves.Add(1)
						time.Sleep(time.Millisecond)
						return nil
					}
					switch depth % 5 {
					case 0:
						return stint.Range(ctx, 3, func(ctx context.Context, _ int) error { return walk(ctx, depth-1) }, o)
					case 1:
						g := stint.NewGroup(ctx, o, stint.Queue(1))
						for range 3 {
							g.Go(func(ctx context.Context) error { return walk(ctx, depth-1) })
						}
						return g.Wait()
					case 2:
						for _, err := range stint.MapSeq(ctx, count(3), func(ctx context.Context, _ int) (int, error) { return 0, walk(ctx, depth-1) }, o) {
							if err != nil {
								return err
							}
						}
						return nil
					case 3: // another limit between
						return stint.Range(ctx, 3, func(ctx context.Context, _ int) error { return walk(ctx, depth-1) }, stint.Limit(2))
					default:
						return stint.EachSeq(ctx, count(3), func(ctx context.Context, _ int) error { return walk(ctx, depth-1) }, o)
					}
				}
				if err := walk(context.Background(), 6); err != nil {
					t.Fatal(err)
				}
				if leaves.Load() != 729 {
					t.Fatal(leaves.Load())
				}
			})
		})
	}
}

func TestSmokeErrors(t *testing.T) {
	ctx := context.Background()
	boom := errors.New("boom")
	err := stint.Range(ctx, 100, func(_ context.Context, i int) error {
		if i == 10 {
			return boom
		}
		return nil
	})
	if err != boom {
		t.Fatal(err)
	}
	func() {
		defer func() {
			pe, ok := recover().(*stint.PanicError)
			if !ok || pe.Value != "x" {
				t.Fatal(pe)
			}
		}()
		stint.Range(ctx, 100, func(_ context.Context, i int) error {
			if i == 10 {
				panic("x")
			}
			return nil
		})
	}()
	g := stint.NewGroup(ctx, stint.Limit(1))
	g.Go(func(context.Context) error { runtime.Goexit(); return nil })
	if err := g.Wait(); err != stint.ErrGoexit {
		t.Fatal(err)
	}
	err = stint.Range(ctx, 4, func(_ context.Context, i int) error { return fmt.Errorf("e%d", i) }, stint.KeepGoing())
	if err.Error() != "item 0: e0\nitem 1: e1\nitem 2: e2\nitem 3: e3" {
		t.Fatal(err)
	}
}
