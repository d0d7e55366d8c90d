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
	for _, k := range limitKinds {
		each(t, func(t *testing.T, e entryPoint) { labelled(t, e, k) })
	}
	bubble(t, "Pool", func(t *testing.T) {
		p := stint.NewPool(stint.Name("crawler"), stint.Limit(2))
		for range 2 {
			p.Go(func(ctx context.Context) {
				equal(t, "label", label(ctx), "crawler")
				time.Sleep(time.Second)
			})
		}
		synctest.Wait()
		equal(t, "the profile has the label", strings.Contains(labels(), crawler), true)
		equal(t, "name in Stats", p.Stats().Name, "crawler")
		p.Idle(bg)
		equal(t, "idle workers keep it", strings.Contains(labels(), crawler), true)
		p.Close()
		synctest.Wait()
		equal(t, "the profile has it after Close", strings.Contains(labels(), crawler), false)
	})
	pprof.Do(bg, pprof.Labels("mine", "kept"), func(ctx context.Context) {
		stint.Range(ctx, 2, func(ctx context.Context, _ int) error {
			mine, _ := pprof.Label(ctx, "mine")
			equal(t, "mine in a task", mine, "kept")
			return nil
		}, stint.Name("crawler"))
	})
}

// crawler is the label in a profile.
const crawler = `"stint":"crawler"`

func label(ctx context.Context) string {
	name, _ := pprof.Label(ctx, "stint")
	return name
}

// labelled makes a call with a name on a goroutine with a label that its context does not have.
func labelled(t *testing.T, e entryPoint, k limitKind) {
	opts, shut := k.open(2)
	defer shut()
	pprof.SetGoroutineLabels(pprof.WithLabels(bg, pprof.Labels("mine", "kept")))
	var both, looked sync.WaitGroup
	both.Add(2)
	looked.Add(2)
	e.run(bg, 2, func(ctx context.Context, _ int) error {
		both.Done()
		both.Wait() // one of the two is not on the caller's goroutine
		defer looked.Wait()
		defer looked.Done()
		equal(t, "the label in a task's context", label(ctx), "crawler")
		if !strings.HasSuffix(k.name, "Pool") { // there the workers are the pool's
			equal(t, "a goroutine has the label", strings.Contains(labels(), crawler), true)
		}
		return nil
	}, append(opts, stint.Name("crawler"))...)
	synctest.Wait()
	equal(t, "a goroutine has it afterwards", strings.Contains(labels(), crawler), false)
	equal(t, "mine afterwards", strings.Contains(labels(), `"mine":"kept"`), true)
}

// The goroutines of a call have the labels of its context, also goroutines started by
// another call, which freed their permits.
func TestLabelsAreNotThoseOfOtherCalls(t *testing.T) {
	mine := pprof.WithLabels(bg, pprof.Labels("who", "mine"))
	each(t, func(t *testing.T, e entryPoint) {
		l := stint.Limit(2)
		go pprof.Do(bg, pprof.Labels("who", "other"), func(ctx context.Context) { stint.Range(ctx, 1, sleeps(time.Second), l) })
		synctest.Wait()
		equal(t, "the other goroutine is there", strings.Contains(labels(), `"who":"other"`), true)
		var g gauge
		var wg sync.WaitGroup
		wg.Go(func() {
			pprof.SetGoroutineLabels(mine)
			e.run(mine, 2, holds(&g, time.Hour), l)
		})
		g.Runs(t, 1)
		time.Sleep(2 * time.Second)
		g.Runs(t, 2) // the second since the other has ended
		profile := labels()
		equal(t, "a goroutine has the label of the other", strings.Contains(profile, `"who":"other"`), false)
		equal(t, "one has its own", strings.Contains(profile, `"who":"mine"`), true)
		wg.Wait()
	})
}

// A name is the region of each task in an execution trace.
func TestNameIsARegion(t *testing.T) {
	if trace.IsEnabled() {
		t.Skip("a trace is being taken already: one at a time")
	}
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, k := range limitKinds {
		for _, e := range entryPoints {
			opts, shut := k.open(2)
			name := "region of " + e.name + " on " + k.name
			equal(t, "error", e.run(bg, 3, nothing, append(opts, stint.Name(name))...), nil)
			shut()
			if !strings.HasSuffix(k.name, "Pool") { // whose own name it would be
				names = append(names, name)
			}
		}
	}
	p := stint.NewPool(stint.Name("region of a pool"))
	p.Go(func(context.Context) {})
	p.Close()
	trace.Stop()
	for _, name := range append(names, "region of a pool") {
		equal(t, name+" is in the trace", bytes.Contains(b.Bytes(), []byte(name)), true)
	}
}

// A helper has the labels of its own call, also if a task of a nested call gave it the permit.
func TestTreeKeepsLabels(t *testing.T) {
	for _, e := range searching() {
		bubble(t, e.name, func(t *testing.T) { keepsItsLabel(t, e) })
	}
}

func keepsItsLabel(t *testing.T, e entryPoint) {
	time.AfterFunc(time.Second/2, func() { // the calls named inner have ended
		equal(t, "a goroutine has the label of a nested call", strings.Contains(labels(), `"stint":"inner"`), false)
	})
	e.run(bg, 6, func(ctx context.Context, i int) error {
		if i > 1 {
			time.Sleep(time.Second)
			return nil
		}
		return stint.Range(ctx, 4, sleeps(time.Millisecond), stint.Name("inner"))
	}, within(3, 3))
}
