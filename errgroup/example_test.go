package errgroup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/errgroup"
)

// A group without a context: all tasks run, and Wait returns the first error.
func ExampleGroup() {
	var g errgroup.Group
	for _, name := range []string{"go.mod", "no such file"} {
		g.Go(func() error {
			_, err := os.Stat("../" + name)
			return err
		})
	}
	err := g.Wait()
	fmt.Println(errors.Is(err, os.ErrNotExist))
	// Output: true
}

// The first error cancels the context of the others.
func ExampleWithContext() {
	g, ctx := errgroup.WithContext(context.Background())
	g.Go(func() error { return errors.New("disk full") })
	g.Go(func() error {
		<-ctx.Done()
		return ctx.Err()
	})
	fmt.Println(g.Wait())
	fmt.Println(context.Cause(ctx))
	// Output:
	// disk full
	// disk full
}

// At most two tasks are active: Go blocks until one has finished.
func ExampleGroup_SetLimit() {
	var g errgroup.Group
	g.SetLimit(2)
	squares := make([]int, 5)
	for i := range squares {
		g.Go(func() error {
			squares[i] = i * i
			return nil
		})
	}
	fmt.Println(g.Wait(), squares)
	// Output: <nil> [0 1 4 9 16]
}

// Wait panics if a task has panicked, with the stack of the task.
func ExampleGroup_Wait() {
	defer func() {
		p := recover().(*stint.PanicError)
		fmt.Println(p.Value, bytes.Contains(p.Stack, []byte("ExampleGroup_Wait")))
	}()
	var g errgroup.Group
	g.Go(func() error { panic("oh") })
	g.Wait()
	// Output: oh true
}
