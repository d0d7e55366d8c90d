package zz

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cluster/embedded"
)

func open(t testing.TB, opts ...cluster.Option) *cluster.Engine {
	e, err := embedded.Open(embedded.With(append(opts, cluster.Log(slog.New(slog.NewTextHandler(os.Stderr, nil))))...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func TestMap(t *testing.T) {
	e := open(t)
	double := cluster.NewTask("double/v1", func(_ context.Context, n int) (int, error) {
		if n == 777777 {
			return 0, errors.New("seven")
		}
		return 2 * n, nil
	})
	e.Handle(double)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- cluster.Serve(ctx, e, stint.Limit(64)) }()
	items := make([]int, 20000)
	for i := range items {
		items[i] = i
	}
	begin := time.Now()
	out, err := cluster.Map(t.Context(), e, double, items)
	t.Log(time.Since(begin), err, len(out), out[:3])
	for i := range out {
		if out[i] != 2*i {
			t.Fatal(i, out[i])
		}
	}
	n := 0
	for v, err := range cluster.MapSeq(t.Context(), e, double, slices.Values(items), stint.Limit(10), stint.Name("x/1")) {
		if err != nil || v != 2*n {
			t.Fatal(v, err)
		}
		n++
		if n == 5000 {
			s, err := e.Status(t.Context())
			t.Log(fmt.Sprintf("%+v", s), err)
		}
	}
	s, err := e.Status(t.Context())
	t.Log(fmt.Sprintf("%+v", s), err)
	items = []int{1, 2, 777777, 4}
	_, err = cluster.Map(t.Context(), e, double, items)
	t.Log(err)
	_, err = cluster.Map(t.Context(), e, double, items, stint.KeepGoing())
	t.Log(err)
	stop()
	begin = time.Now()
	t.Log(<-done, time.Since(begin))
}
