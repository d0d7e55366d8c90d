package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"golang.org/x/sync/semaphore"

	"github.com/stint-go/stint"
)

// Tasks that need different amounts of memory. A task acquires its share first, so as many
// run as fit.
func Example_weighted() {
	const budget = 100 // MB
	memory := semaphore.NewWeighted(budget)
	images := []int64{60, 30, 20, 90, 10} // MB each

	err := stint.Each(context.Background(), images, func(ctx context.Context, size int64) error {
		size = min(size, budget) // more than the budget would never fit
		if err := memory.Acquire(ctx, size); err != nil {
			return err
		}
		defer memory.Release(size)
		return nil // decode the image
	}, stint.Limit(8))
	fmt.Println(err, memory.TryAcquire(budget))
	// Output: <nil> true
}

// A span for each task, below the span of the call. The context of a task has the values of
// the caller's context, so the spans that the task starts are below its own.
func Example_spans() {
	spans := new(tracetest.SpanRecorder) // or an exporter
	tracer := trace.NewTracerProvider(trace.WithSpanProcessor(spans)).Tracer("shop")
	charge := func(_ context.Context, order int) error {
		if order == 2 {
			return errors.New("no money")
		}
		return nil
	}

	ctx, all := tracer.Start(context.Background(), "charge all")
	err := stint.Each(ctx, []int{1, 2, 3}, func(ctx context.Context, order int) error {
		ctx, span := tracer.Start(ctx, fmt.Sprint("order ", order))
		defer span.End() // a panic ends it, too
		err := charge(ctx, order)
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		return err
	}, stint.KeepGoing())
	all.End()
	fmt.Println(err)

	var lines []string
	for _, s := range spans.Ended() {
		below := s.Parent().SpanID() == all.SpanContext().SpanID()
		lines = append(lines, fmt.Sprintf("%s: %v, below the call: %v", s.Name(), s.Status().Code, below))
	}
	slices.Sort(lines)
	fmt.Println(strings.Join(lines, "\n"))
	// Output:
	// item 1: no money
	// charge all: Unset, below the call: false
	// order 1: Unset, below the call: true
	// order 2: Error, below the call: true
	// order 3: Unset, below the call: true
}
