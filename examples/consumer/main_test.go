package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// A world is a broker and a handler that check what consumers do, and let them fail.
type world struct {
	*memory
	t *testing.T

	// fail is called at each step of a consumer. If it returns an error, the step fails: one
	// whose name begins with "before" has no effect.
	fail func(step string) error
	dead bool // the consumer's process: nothing that it does has an effect

	handled [][]int        // how often, by partition and offset
	latest  map[string]int // offset of the last message of a key that this consumer handled
	busy    map[string]bool
}

// newWorld has n messages of some keys, one of which has half of them.
func newWorld(t *testing.T, n int, fail func(step string) error) *world {
	w := &world{memory: newMemory(3), t: t, fail: fail}
	for i := range n {
		w.add(fmt.Sprint("key ", i%2*(1+i%5)), "")
	}
	w.close()
	for _, log := range w.logs {
		w.handled = append(w.handled, make([]int, len(log)))
	}
	return w
}

// at is a step: it returns its failure.
func (w *world) at(step string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		return errCrash
	}
	return w.fail(step)
}

func (w *world) committed(ctx context.Context) ([]int, error) {
	if err := w.at("before committed"); err != nil {
		return nil, err
	}
	return w.memory.committed(ctx)
}

func (w *world) poll(ctx context.Context, from []int) ([]message, error) {
	if err := w.at("before poll"); err != nil {
		return nil, err
	}
	return w.memory.poll(ctx, from)
}

func (w *world) commit(ctx context.Context, partition, offset int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := w.at("before commit"); err != nil {
		return err
	}
	w.check(partition, offset)
	w.memory.commit(ctx, partition, offset)
	return w.at("after commit")
}

// check checks that all messages before an offset have been handled.
func (w *world) check(partition, offset int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.handled[partition][:offset], 0); i >= 0 {
		w.t.Errorf("committed %d of partition %d, but %d was not handled", offset, partition, i)
	}
	if done := w.done[partition]; offset <= done {
		w.t.Errorf("committed %d of partition %d after %d", offset, partition, done)
	}
}

// handle takes 1 to 5 ms for a message, of virtual time. No message takes no time: that two
// goroutines of a bubble receive from timers that have expired can crash the race detector
// (note 0007).
func (w *world) handle(ctx context.Context, m message) error {
	if err := w.at("before handling"); err != nil {
		return err
	}
	w.enter(m)
	defer w.leave(m)
	select {
	case <-time.After(time.Duration(1+m.offset*7%5) * time.Millisecond):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := w.at("before the effect"); err != nil {
		return err
	}
	w.effect(m)
	return w.at("after handling")
}

// enter checks that no other message of the key is being handled.
func (w *world) enter(m message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy[m.key] {
		w.t.Errorf("two messages of %s at once", m.key)
	}
	w.busy[m.key] = true
}

func (w *world) leave(m message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.busy, m.key)
}

// effect checks that the messages of the key that come before m have been handled, by this
// consumer just before if it has handled any, and m by another one if it has been handled.
func (w *world) effect(m message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := -1 // offset of the message before m
	for _, other := range w.logs[m.partition][:m.offset] {
		if other.key != m.key {
			continue
		}
		before = other.offset
		if w.handled[m.partition][before] == 0 {
			w.t.Errorf("%s: %d handled before %d", m.key, m.offset, before)
		}
	}
	if latest, ok := w.latest[m.key]; ok && latest != before {
		w.t.Errorf("%s: %d handled after %d, want %d", m.key, m.offset, latest, before)
	}
	w.latest[m.key] = m.offset
	w.handled[m.partition][m.offset]++
}

// consume runs a consumer, and returns how it ended.
func (w *world) consume(ctx context.Context, every, limit int) (err error) {
	w.dead, w.latest, w.busy = false, map[string]int{}, map[string]bool{}
	c := &consumer{broker: w, handle: w.handle, every: every, limit: stint.Limit(limit)}
	defer func() {
		if p, ok := recover().(error); ok {
			err = p
		}
		if len(w.busy) > 0 {
			w.t.Errorf("messages of %v are being handled after the end", w.busy)
		}
	}()
	return c.run(ctx)
}

// end checks that all messages have been handled and committed.
func (w *world) end() {
	for p, handled := range w.handled {
		if i := slices.Index(handled, 0); i >= 0 {
			w.t.Errorf("message %d of partition %d is lost", i, p)
		}
		if w.done[p] != len(handled) {
			w.t.Errorf("committed %d of %d messages of partition %d", w.done[p], len(handled), p)
		}
	}
}

// crashes are the ways in which a consumer ends early. Each gets the world, locked, and
// what cancels the consumer's context.
var crashes = map[string]func(*world, context.CancelCauseFunc) error{
	"error":  func(*world, context.CancelCauseFunc) error { return errCrash },
	"panic":  func(*world, context.CancelCauseFunc) error { panic(errCrash) },
	"cancel": func(_ *world, cancel context.CancelCauseFunc) error { cancel(errCrash); return nil },
	"kill":   func(w *world, _ context.CancelCauseFunc) error { w.dead = true; return errCrash },
}

// A consumer crashes at each of its steps, in each way, and another one goes on.
func TestCrashAnywhere(t *testing.T) {
	for name, crash := range crashes {
		for limit, every := range map[int]int{1: 5, 4: 1} {
			steps := map[string]int{}
			for k, more := 0, true; more; k++ {
				synctest.Test(t, func(t *testing.T) {
					step := crashAt(t, k, crash, limit, every)
					steps[step]++
					more = step != ""
				})
			}
			if len(steps) != 8 { // and the run without a crash
				t.Errorf("%s: crashed at %v, want each of 7", name, steps)
			}
		}
	}
}

// crashAt crashes a consumer at its step k, and returns the step, or "" if it has fewer.
func crashAt(t *testing.T, k int, crash func(*world, context.CancelCauseFunc) error, limit, every int) (crashed string) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var w *world
	n := 0
	w = newWorld(t, 30, func(step string) error {
		if n++; n-1 != k {
			return nil
		}
		crashed = step
		return crash(w, cancel)
	})
	err := w.consume(ctx, every, limit)
	if crashed == "" {
		if err != nil {
			t.Error(err)
		}
		w.end()
		return ""
	}
	if last := err == nil && strings.HasSuffix(crashed, "commit"); !last && !errors.Is(err, errCrash) {
		t.Errorf("step %d, %s: ended by %v", k, crashed, err)
	}
	if err := w.consume(t.Context(), every, limit); err != nil {
		t.Errorf("step %d, %s: the next consumer: %v", k, crashed, err)
	}
	w.end()
	return crashed
}

// Many consumers crash one after the other.
func TestCrashOften(t *testing.T) {
	for seed := range uint64(5) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			names := []string{"error", "panic", "cancel", "kill"}
			var w *world
			var cancel context.CancelCauseFunc
			w = newWorld(t, 300, func(string) error {
				if random.IntN(100) > 0 {
					return nil
				}
				return crashes[names[random.IntN(len(names))]](w, cancel)
			})
			for err := io.EOF; err != nil; {
				var ctx context.Context
				ctx, cancel = context.WithCancelCause(t.Context())
				err = w.consume(ctx, 1+random.IntN(10), 1+random.IntN(8))
				cancel(nil)
			}
			w.end()
		})
	}
}

// Messages that come later are handled when they come, and committed at the end.
func TestLaterMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newMemory(2)
		began := time.Now()
		var at []time.Duration
		c := &consumer{broker: b, every: 10, limit: stint.Limit(2), handle: func(context.Context, message) error {
			at = append(at, time.Since(began))
			return nil
		}}
		go func() {
			for range 3 {
				time.Sleep(time.Hour)
				b.add("key", "")
			}
			time.Sleep(time.Hour)
			b.close()
		}()
		if err := c.run(t.Context()); err != nil {
			t.Error(err)
		}
		if want := []time.Duration{time.Hour, 2 * time.Hour, 3 * time.Hour}; !slices.Equal(at, want) {
			t.Errorf("handled at %v, want %v", at, want)
		}
		if got := slices.Max(b.done); got != 3 {
			t.Errorf("committed %v, want 3", b.done)
		}
	})
}

// A consumer that waits for messages ends at once with its context.
func TestInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Hour, func() { cancel(errCrash) })
		began := time.Now()
		c := &consumer{broker: newMemory(2), every: 10, limit: stint.Limit(2)}
		if err := c.run(ctx); !errors.Is(err, errCrash) || time.Since(began) != time.Hour {
			t.Errorf("%v after %v, want %v after an hour", err, time.Since(began), errCrash)
		}
	})
}

// Different keys are handled concurrently.
func TestConcurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newMemory(1)
		for i := range 40 {
			b.add(fmt.Sprint("key ", i%4), "")
		}
		b.close()
		began := time.Now()
		c := &consumer{broker: b, every: 10, limit: stint.Limit(8), handle: func(context.Context, message) error {
			time.Sleep(time.Second)
			return nil
		}}
		if err := c.run(t.Context()); err != nil || time.Since(began) != 10*time.Second {
			t.Errorf("%v after %v, want 10 s: each of 4 keys has 10 messages of a second", err, time.Since(began))
		}
	})
}

func TestProgram(t *testing.T) {
	for _, crash := range []string{"0", "40"} {
		var stdout, stderr bytes.Buffer
		if err := run(t.Context(), []string{"-messages", "200", "-crash", crash}, &stdout, &stderr); err != nil {
			t.Error(err)
		}
		lines := strings.Split(stdout.String(), "\n")
		if n := len(lines); n < 3 || !strings.HasSuffix(lines[n-3], ": all handled") || !strings.HasPrefix(lines[n-2], "200 messages handled, ") || !strings.HasSuffix(lines[n-2], " 0 lost, 0 too early") {
			t.Errorf("printed\n%s", &stdout)
		}
		if crash == "0" && len(lines) != 3 || stderr.Len() > 0 {
			t.Errorf("printed\n%s\ncomplained %q", &stdout, &stderr)
		}
	}
}

func TestCommandLine(t *testing.T) {
	for _, test := range []struct {
		args   []string
		err    error
		stderr string // prefix
	}{
		{[]string{"-help"}, nil, "Usage of consumer"},
		{[]string{"-messages", "-1"}, errUsage, "want"},
		{[]string{"-customers", "0"}, errUsage, "want"},
		{[]string{"-crash", "-1"}, errUsage, "want"},
		{[]string{"-limit", "0"}, errUsage, "want"},
		{[]string{"-fast"}, errUsage, "flag provided but not defined: -fast"},
		{[]string{"a"}, errUsage, "want"},
	} {
		var stdout, stderr bytes.Buffer
		err := run(t.Context(), test.args, &stdout, &stderr)
		if !errors.Is(err, test.err) || !strings.HasPrefix(stderr.String(), test.stderr) || stdout.Len() > 0 {
			t.Errorf("%q: error %v, want %v; printed %q; complained %q, want %q", test.args, err, test.err, &stdout, &stderr, test.stderr)
		}
	}
}
