package conformance_test

import (
	"bytes"
	"context"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// labels returns the goroutine profile with labels.
func labels() string {
	var b strings.Builder
	pprof.Lookup("goroutine").WriteTo(&b, 1)
	return b.String()
}

// A name is the label "stint": in the context of tasks, and of workers in profiles. The
// caller's goroutine keeps the labels that it has.
func TestNameIsALabel(t *testing.T) {
	const label = `"stint":"crawler"`
	for _, e := range entryPoints {
		for _, p := range limitKinds {
			t.Run(e.name+"/"+p.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					opts, shut := p.open(2)
					defer shut()
					var both, looked sync.WaitGroup
					both.Add(2)
					looked.Add(2)
					e.run(context.Background(), 2, func(ctx context.Context, _ int) error {
						both.Done()
						both.Wait() // one of the two is not on the caller's goroutine
						defer looked.Wait()
						defer looked.Done()
						name, _ := pprof.Label(ctx, "stint")
						equal(t, "the label in a task's context", name, "crawler")
						if !strings.HasSuffix(p.name, "Pool") { // there the workers are the pool's
							equal(t, "a goroutine has the label", strings.Contains(labels(), label), true)
						}
						return nil
					}, append(opts, stint.Name("crawler"))...)
					synctest.Wait()
					equal(t, "a goroutine has it afterwards", strings.Contains(labels(), label), false)
				})
			})
		}
	}
	t.Run("Pool", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := stint.NewPool(stint.Name("crawler"), stint.Limit(2))
			for range 2 {
				p.Go(func(ctx context.Context) {
					name, _ := pprof.Label(ctx, "stint")
					equal(t, "label", name, "crawler")
					time.Sleep(time.Second)
				})
			}
			synctest.Wait()
			equal(t, "the profile has the label", strings.Contains(labels(), label), true)
			equal(t, "name in Stats", p.Stats().Name, "crawler")
			p.Idle(context.Background())
			equal(t, "idle workers keep it", strings.Contains(labels(), label), true)
			p.Close()
			synctest.Wait()
			equal(t, "the profile has it after Close", strings.Contains(labels(), label), false)
		})
	})
	t.Run("the caller's own labels", func(t *testing.T) {
		pprof.Do(context.Background(), pprof.Labels("mine", "kept"), func(ctx context.Context) {
			stint.Range(ctx, 2, func(ctx context.Context, _ int) error {
				mine, _ := pprof.Label(ctx, "mine")
				equal(t, "mine in a task", mine, "kept")
				return nil
			}, stint.Name("crawler"))
			equal(t, "mine afterwards", strings.Contains(labels(), `"mine":"kept"`), true)
			equal(t, "stint afterwards", strings.Contains(labels(), label), false)
		})
	})
	t.Run("the caller's labels that its context does not have", func(t *testing.T) {
		for _, e := range entryPoints {
			for _, p := range limitKinds {
				synctest.Test(t, func(t *testing.T) {
					opts, shut := p.open(2)
					defer shut()
					pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("mine", "kept")))
					e.run(context.Background(), 3, func(context.Context, int) error { return nil }, append(opts, stint.Name("crawler"))...)
					equal(t, e.name+"/"+p.name+": mine afterwards", strings.Contains(labels(), `"mine":"kept"`), true)
				})
			}
		}
	})
}

// The goroutines of a call have the labels of its context, also goroutines started by
// another call, which freed their permits.
func TestLabelsAreNotThoseOfOtherCalls(t *testing.T) {
	bg := context.Background()
	mine := pprof.WithLabels(bg, pprof.Labels("who", "mine"))
	for _, e := range entryPoints {
		t.Run(e.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := stint.Limit(2)
				go pprof.Do(bg, pprof.Labels("who", "other"), func(ctx context.Context) {
					stint.Range(ctx, 1, func(context.Context, int) error { time.Sleep(time.Second); return nil }, l)
				})
				synctest.Wait()
				equal(t, "the other goroutine is there", strings.Contains(labels(), `"who":"other"`), true)
				var g gauge
				var wg sync.WaitGroup
				defer wg.Wait()
				wg.Go(func() {
					pprof.SetGoroutineLabels(mine)
					e.run(mine, 2, func(context.Context, int) error { g.Hold(time.Hour); return nil }, l)
				})
				g.Runs(t, 1)
				time.Sleep(2 * time.Second)
				g.Runs(t, 2) // the second since the other has ended
				profile := labels()
				equal(t, "a goroutine has the label of the other", strings.Contains(profile, `"who":"other"`), false)
				equal(t, "one has its own", strings.Contains(profile, `"who":"mine"`), true)
			})
		})
	}
}

// A name is the region of each task in an execution trace.
func TestNameIsARegion(t *testing.T) {
	if trace.IsEnabled() {
		t.Skip("a trace is being taken already: one at a time")
	}
	for _, e := range entryPoints {
		for _, p := range limitKinds {
			var b bytes.Buffer
			if err := trace.Start(&b); err != nil {
				t.Fatal(err)
			}
			opts, shut := p.open(2)
			name := "region of " + e.name + " on " + p.name
			err := e.run(context.Background(), 3, func(context.Context, int) error { return nil }, append(opts, stint.Name(name))...)
			shut()
			trace.Stop()
			equal(t, "error", err, nil)
			if !strings.HasSuffix(p.name, "Pool") { // whose own name it would be
				equal(t, name+" is in the trace", bytes.Contains(b.Bytes(), []byte(name)), true)
			}
		}
	}
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Fatal(err)
	}
	p := stint.NewPool(stint.Name("region of a pool"))
	p.Go(func(context.Context) {})
	p.Close()
	trace.Stop()
	equal(t, "the region of the pool is in the trace", bytes.Contains(b.Bytes(), []byte("region of a pool")), true)
}

// A helper has the labels of its own call, also if a task of a nested call gave it the permit.
func TestTreeKeepsLabels(t *testing.T) {
	for _, e := range searching() {
		t.Run(e.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				go func() {
					time.Sleep(time.Second / 2) // the calls named inner have ended
					equal(t, "a goroutine has the label of a nested call", strings.Contains(labels(), `"stint":"inner"`), false)
				}()
				e.run(context.Background(), 6, func(ctx context.Context, i int) error {
					if i > 1 {
						time.Sleep(time.Second)
						return nil
					}
					return stint.Range(ctx, 4, func(context.Context, int) error { time.Sleep(time.Millisecond); return nil }, stint.Name("inner"))
				}, within(3, 3))
			})
		})
	}
}
