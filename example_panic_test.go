package stint_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/stint-go/stint"
)

// Where a server must outlive a faulty task, a panic becomes an error at the one
// place that is meant to do this.
func ExamplePanicError_asError() {
	guarded := func(f func() error) (err error) {
		defer func() {
			v := recover()
			if p, ok := v.(*stint.PanicError); ok {
				err = p
			} else if v != nil {
				panic(v) // no task's
			}
		}()
		return f()
	}

	err := guarded(func() error {
		return stint.Each(context.Background(), []string{"a.png", "b.png"}, func(_ context.Context, name string) error {
			if name == "b.png" {
				panic(fmt.Errorf("decoding %s: %w", name, io.ErrUnexpectedEOF))
			}
			return nil
		})
	})
	if p, ok := errors.AsType[*stint.PanicError](err); ok { // p.Error() is for the log: it has the stack
		fmt.Println(p.Value)
		fmt.Println("cut short:", errors.Is(err, io.ErrUnexpectedEOF)) // by p.Unwrap
	}
	// Output:
	// decoding b.png: unexpected EOF
	// cut short: true
}

// A panic that comes after an error is raised still. The error is not lost.
func ExamplePanicError_also() {
	defer func() {
		p := recover().(*stint.PanicError)
		fmt.Println(p.Value)
		fmt.Println("and:", p.Also())
	}()
	writing := make(chan struct{})
	stint.Each(context.Background(), []string{"read", "write"}, func(ctx context.Context, job string) error {
		if job == "read" {
			<-writing
			return errors.New("no such file")
		}
		close(writing)
		<-ctx.Done() // the error has cancelled it
		panic("in the middle of a record")
	}, stint.Limit(2))
	// Output:
	// in the middle of a record
	// and: no such file
}

// Every way out of the function passes a Wait, so that nothing runs on and no panic
// stays unseen.
func ExampleGroup_Wait() {
	upload := func(names []string) error {
		ctx, cancel := context.WithCancel(context.Background())
		g := stint.NewGroup(ctx)
		defer g.Wait() // the second thing to be done
		defer cancel() // the first: the tasks should end
		for _, name := range names {
			if name == "" {
				return errors.New("a file without a name")
			}
			g.Go(func(ctx context.Context) error {
				<-ctx.Done() // or the end of the upload
				return context.Cause(ctx)
			})
		}
		return g.Wait()
	}
	fmt.Println(upload([]string{"a.png", ""}))
	// Output: a file without a name
}

// A sequence that blocks is not interrupted by the error of a task, which ends the
// context of the tasks and not the caller's. Who wants that ends the caller's too.
func ExampleEachSeq_blocks() {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	messages := make(chan string, 1)
	messages <- "jump" // and never another one
	incoming := func(yield func(string) bool) {
		for {
			select {
			case m := <-messages:
				if !yield(m) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}

	err := stint.EachSeq(ctx, incoming, func(_ context.Context, m string) error {
		err := fmt.Errorf("%q is no command", m)
		cancel(err)
		return err
	})
	fmt.Println(err)
	// Output: "jump" is no command
}
