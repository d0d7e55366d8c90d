package stream_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// A failingSource has a record 0 and then the error that fail returns.
type failingSource struct {
	name string
	open func(fail func() error) ints
}

var failingSources = []failingSource{
	{"Generate", func(fail func() error) ints {
		return stream.Generate(func(_ context.Context, emit func(int) bool) error {
			emit(0)
			return fail()
		})
	}},
	{"MapErr", func(fail func() error) ints { return stream.MapErr(stream.From(indexes(2)), second(fail)) }},
	{"MapErr/FromSeq", func(fail func() error) ints { return stream.MapErr(stream.FromSeq(count(2)), second(fail)) }},
	{"ParMap", func(fail func() error) ints {
		return stream.ParMap(stream.From(indexes(2)), second(fail), stint.Limit(2))
	}},
	{"Unordered", func(fail func() error) ints {
		return stream.ParMap(stream.From(indexes(2)), second(fail), stint.Limit(2), stint.Unordered())
	}},
}

func second(fail func() error) func(context.Context, int) (int, error) {
	return func(_ context.Context, v int) (int, error) {
		if v == 0 {
			return 0, nil
		}
		return 0, fail()
	}
}

// panicsLate panics a second after the end of its context.
func panicsLate(value any) ints {
	return stream.Generate(func(ctx context.Context, emit func(int) bool) error {
		<-ctx.Done()
		time.Sleep(time.Second)
		culprit(value)
		return nil
	})
}

// A PanicError has the errors of other functions, returned before or after the panic, once
// each, however many boundaries follow.
func TestErrorsBesideAPanic(t *testing.T) {
	for _, e := range failingSources {
		for _, b := range stages {
			for name, before := range map[string]bool{"before": true, "after": false} {
				bubble(t, e.name+"/"+b.name+"/"+name, func(t *testing.T) {
					bad := panicsLate("boom")
					if !before {
						bad = stream.FromSeq(func(func(int) bool) { time.Sleep(time.Second); culprit("boom") })
					}
					s := b.add(e.open(func() error {
						time.Sleep(time.Second)
						if !before {
							time.Sleep(time.Second)
						}
						return errBoom
					}))
					got := raised(t, func() { stream.Collect(context.Background(), stream.Merge(s, bad)) })
					equal(t, "value", got.Value, any("boom"))
					equal(t, "and", fmt.Sprint(got.Also()), "boom")
					equal(t, "is the error", errors.Is(got.Also(), errBoom), true)
				})
			}
		}
	}
	bubble(t, "several", func(t *testing.T) {
		fail := func(err error) ints {
			return stream.MapErr(stream.From([]int{1}), func(context.Context, int) (int, error) { time.Sleep(time.Second); return 0, err })
		}
		got := raised(t, func() {
			stream.Collect(context.Background(), stream.Merge(panicsLate("boom"), fail(errBoom), fail(errGone), panicsLate("bang")))
		})
		also := got.Also().Error()
		equal(t, "is the first", errors.Is(got.Also(), errBoom), true)
		equal(t, "is the second", errors.Is(got.Also(), errGone), true)
		if p, ok := errors.AsType[*stint.PanicError](got.Also()); !ok || p.Value == got.Value || strings.Count(also, "panicked: ") != 1 {
			t.Errorf("not one other panic: %s", also)
		}
	})
}

// Errors that functions return because a panic, or the caller, has ended their context are left
// out.
func TestConsequencesOfAPanicAreLeftOut(t *testing.T) {
	bad := stream.FromSeq(func(func(int) bool) { time.Sleep(time.Second); culprit("boom") })
	for name, of := range map[string]func(ctx context.Context) error{
		"Err":     func(ctx context.Context) error { return ctx.Err() },
		"Cause":   context.Cause,
		"wrapped": func(ctx context.Context) error { return fmt.Errorf("get: %w", ctx.Err()) },
		"joined":  func(ctx context.Context) error { return errors.Join(ctx.Err(), context.Cause(ctx)) },
	} {
		wait := func(ctx context.Context, v int) (int, error) { return 0, of(ended(ctx)) }
		over(t, stages, name, func(t *testing.T, b stage) {
			s := stream.Merge(
				b.add(stream.Generate(func(ctx context.Context, _ func(int) bool) error { return of(ended(ctx)) })),
				b.add(stream.MapErr(stream.From(indexes(10)), wait)),
				b.add(stream.ParMap(stream.From(indexes(10)), wait, stint.Limit(3))),
			)
			got := raised(t, func() { stream.Collect(context.Background(), stream.Merge(bad, s)) })
			equal(t, "and", got.Also(), nil)
			equal(t, "times in the text", strings.Count(got.Error(), "panicked: boom"), 1)

			ctx, cancel := context.WithTimeoutCause(context.Background(), time.Second, errGone)
			defer cancel()
			got = raised(t, func() { stream.Collect(ctx, stream.Merge(s, panicsLate("boom"))) })
			equal(t, "and after the end of the context", got.Also(), nil)
		})
	}
}

// ended waits for the end of ctx.
func ended(ctx context.Context) context.Context { <-ctx.Done(); return ctx }

// An error joined to the cancellation is an error of its own.
func TestErrorJoinedToTheEnd(t *testing.T) {
	for _, x := range terminals {
		bubble(t, x.name, func(t *testing.T) {
			for _, own := range []error{errBoom, context.Canceled} {
				ctx, cancel := context.WithCancelCause(context.Background())
				time.AfterFunc(time.Second, func() { cancel(errGone) })
				bad := stream.MapErr(stream.From([]int{1}), func(context.Context, int) (int, error) {
					time.Sleep(time.Second / 2) // the other has started
					return 0, errors.Join(context.Canceled, own)
				})
				slow := stream.FromSeq(func(func(int) bool) { time.Sleep(time.Hour) })
				_, err := x.run(ctx, stream.Merge(bad, slow))
				equal(t, "is the function's", errors.Is(err, errBoom), own == errBoom)
				equal(t, "is the cause", err == errGone, own != errBoom)
			}
		})
	}
}

// A panic of a function, while the loop over All is left, is raised in any case. The panic of the
// body is in its Also.
func TestLoopIsLeftWhileAFunctionPanics(t *testing.T) {
	for name, leave := range map[string]func(){"break": func() {}, "panic": func() { panic("body") }, "Goexit": runtime.Goexit} {
		for _, b := range stages {
			bubble(t, b.name+"/"+name, func(t *testing.T) {
				returned := false
				v := leaving(func() {
					for range b.add(stream.Merge(stream.From([]int{1}), panicsLate("function"))).All(context.Background()) {
						time.Sleep(time.Second)
						leave()
						break
					}
					returned = true
				})
				p, ok := v.(*stint.PanicError)
				if !ok || returned {
					t.Fatalf("recovered %v, returned %v", v, returned)
				}
				equal(t, "value", p.Value, any("function"))
				equal(t, "panic of the body in Also", strings.Contains(fmt.Sprintf("%+v", p.Also()), "panicked: body"), name == "panic")
			})
		}
	}
}

// A crash prints both panics.
func TestCrashTellsOfBothPanics(t *testing.T) {
	if os.Getenv("STINT_CRASH") == "1" {
		go func() { // package testing recovers its own
			started := make(chan struct{})
			s := stream.ParMap(stream.From(indexes(2)), func(ctx context.Context, v int) (int, error) {
				if v == 0 {
					<-started
					return 0, nil
				}
				close(started)
				<-ctx.Done()
				culprit("function")
				return 0, nil
			}, stint.Limit(2))
			for range s.All(context.Background()) {
				panic("body")
			}
		}()
		select {}
	}
	out := child(t, "STINT_CRASH=1")
	for _, want := range []string{"panic: body", "panicked: function", "stream_test.culprit"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

// child runs the test in a child process with additional environment variables, and returns
// its output.
func child(t *testing.T, env ...string) string {
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), env...)
	out, _ := cmd.CombinedOutput() // that it fails is in what it prints
	return string(out)
}

// Under GODEBUG=panicnil=1 recover returns nil for panic(nil). It still is a panic, with the
// value that it has otherwise.
func TestPanicOfNil(t *testing.T) {
	if os.Getenv("STINT_PANICNIL") == "" {
		if out := child(t, "STINT_PANICNIL=1", "GODEBUG=panicnil=1"); !strings.HasSuffix(strings.TrimSpace(out), "PASS") {
			t.Errorf("under GODEBUG=panicnil=1:\n%s", out)
		}
	}
	isNil := func(t *testing.T, f func()) {
		t.Helper()
		if got := raised(t, f); got != nil {
			if _, ok := got.Value.(*runtime.PanicNilError); !ok || len(got.Stack) == 0 {
				t.Errorf("value %T, %d bytes of stack", got.Value, len(got.Stack))
			}
		}
	}
	for _, p := range callSites {
		everyTerminal(t, func(t *testing.T, run func(context.Context, ints) ([]int, error)) {
			s := p.open(func(v int) {
				if v == 3 {
					panic(nil)
				}
			})
			isNil(t, func() { run(context.Background(), stream.Buffer(s, 1)) })
			isNil(t, func() { run(context.Background(), s) })
		})
	}
	bubble(t, "terminals", func(t *testing.T) {
		ctx, s := context.Background(), stream.From(indexes(10))
		isNil(t, func() { stream.Each(ctx, s, func(int) error { panic(nil) }) })
		isNil(t, func() { stream.Reduce(ctx, s, 0, func(int, int) int { panic(nil) }) })
		returned := false
		recovered(func() {
			for range s.All(ctx) {
				panic(nil)
			}
			returned = true
		})
		equal(t, "the loop is left", returned, false)
	})
	bubble(t, "Overload", func(t *testing.T) {
		s := stream.ParMap(stream.From(indexes(10)), failAt(5), stint.Auto(1, 256, stint.Overload(func(error) bool { panic(nil) })))
		isNil(t, func() { stream.Collect(context.Background(), s) })
	})
}
