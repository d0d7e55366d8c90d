// Package servers measures the adaptive limit on PostgreSQL, a web server and files, near, and over connections that make
// them far away, beside fixed limits and the adaptive limit of another library.
//
//	go test -run none -bench Server/row=select -benchtime 1x ./lab/servers
//
// An op of BenchmarkServer is a request: ns/op is the time of a call that lasts a second, divided by the requests that
// were served. An op of BenchmarkBatch is all tasks of a batch. limit=N is stint.Range with stint.Limit(N); stint.Range
// is the call without an option, "again" the second of two calls with one Auto(1, 256), and "burst" an Auto that starts
// 256 at once. The servers are processes of their own, on the same CPUs. Connections are open before.
package servers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/failsafe-go/failsafe-go/adaptivelimiter"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/bench"
	"github.com/stint-go/stint/lab/child"
	"github.com/stint-go/stint/lab/models"
)

func TestMain(m *testing.M) {
	child.Main(play)
	bench.Main(m)
}

// A task sends request i, or does other work that waits, and checks the answer.
type task func(i int) error

// A row is one kind of tasks.
type row struct {
	name   string
	link   link
	server string
	open   func(b *testing.B, address string, l link) task
}

var rows = []row{
	{"row=http/link=near", link{}, web, openWeb},
	{"row=http/link=20-40ms", link{20 * time.Millisecond, 20 * time.Millisecond}, web, openWeb},
	{"row=files/link=near", link{}, web, openFiles},
	{"row=select/link=near", link{}, postgres, openPostgres(selects)},
	{"row=select/link=2ms", link{2 * time.Millisecond, 0}, postgres, openPostgres(selects)},
	{"row=update/link=near", link{}, postgres, openPostgres(updates)},
	{"row=aggregate/link=near", link{}, postgres, openPostgres(counts)},
}

// task returns the task of a row, whose connections are open until b ends. The server runs until all ends.
func (r row) task(b, all *testing.B) task {
	t := r.open(b, start(r.server, b, all), r.link)
	if !testing.Short() {
		t.call(b, goroutines, most, 0) // opens all connections
	}
	return t
}

// call runs n tasks, or as many as start within a length if it is not 0. It returns the time of a task: that of the call
// divided by how many there were.
func (t task) call(b *testing.B, r run, n int, length time.Duration) time.Duration {
	var served atomic.Int64
	began := time.Now()
	r(n, func(i int) bool {
		if length > 0 && served.Load() > 0 && time.Since(began) > length {
			return false
		}
		bench.Check(t(i))
		served.Add(1)
		return true
	})
	took := time.Since(began)
	if got := int(served.Load()); length == 0 && got != n {
		b.Fatalf("%d of %d tasks were served", got, n)
	}
	return took / time.Duration(served.Load())
}

// BenchmarkServer sends requests for a second, and with a fixed limit, which has nothing to learn, for a third of that.
func BenchmarkServer(all *testing.B) {
	length := bench.Short(time.Second, 4*time.Millisecond)
	for _, r := range rows {
		if testing.Short() && r.server == postgres {
			continue
		}
		all.Run(r.name, func(b *testing.B) {
			t := r.task(b, all)
			for _, m := range limits(1) {
				b.Run(m.name, func(b *testing.B) {
					for b.Loop() {
						runtime.GC()
						r, length := m.open(), length/m.part
						for range m.before {
							t.call(b, r, math.MaxInt32, length)
						}
						b.ReportMetric(float64(t.call(b, r, math.MaxInt32, length)), "ns/op")
					}
				})
			}
		})
	}
}

// BenchmarkBatch has few tasks. An op is all of them.
func BenchmarkBatch(b *testing.B) {
	order := rand.New(rand.NewPCG(1, 2)).Perm(100)
	sleep := func(ms int) error { time.Sleep(time.Duration(ms) * time.Millisecond); return nil }
	for _, c := range []struct {
		name string
		n    int
		task task
	}{
		{"wait=0-9ms", 100, func(i int) error { return sleep(order[i] / 10) }},
		{"wait=5ms", 1000, func(int) error { return sleep(5) }},
		{"http=20ms", 300, row{"", link{20 * time.Millisecond, 0}, web, openWeb}.task(b, b)},
	} {
		for _, m := range append(limits(64), // smaller limits take long
			model{"model=goroutines", 0, 1, func() run { return goroutines }},
			model{"model=stint.Range-burst", 0, 1, func() run { return ranged(stint.Auto(1, most, stint.Burst(3*most))) }},
		) {
			b.Run(fmt.Sprintf("%s/tasks=%d/%s", c.name, c.n, m.name), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					r := m.open()
					for range m.before {
						c.task.call(b, r, c.n, 0)
					}
					b.StartTimer()
					c.task.call(b, r, c.n, 0)
				}
			})
		}
	}
}

// most is the largest limit of all models.
const most = 256

// A run calls f for 0 to n-1 with a limit, until f says that it is enough.
type run = func(n int, f func(i int) bool)

type model struct {
	name   string
	before int           // calls before the one that is measured
	part   time.Duration // a call of BenchmarkServer lasts a second divided by this
	open   func() run
}

// limits are the fixed limits from least on and the adaptive ones, in random order.
func limits(least int) []model {
	out := []model{
		{"model=stint.Range", 0, 1, func() run { return ranged() }},
		{"model=stint.Range-again", 1, 1, func() run { return ranged(stint.Auto(1, most)) }},
		{"model=failsafe-go", 0, 1, failsafe},
	}
	for n := least; n <= most; n *= 2 {
		out = append(out, model{fmt.Sprint("limit=", n), 0, 3, func() run { return ranged(stint.Limit(n)) }})
	}
	rand.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func ranged(opts ...stint.Option) run {
	enough := errors.New("enough")
	return func(n int, f func(i int) bool) {
		_ = stint.Range(context.Background(), n, func(_ context.Context, i int) error {
			if !f(i) {
				return enough
			}
			return nil
		}, opts...) // f knows other errors
	}
}

func failsafe() run {
	l := adaptivelimiter.NewBuilder[any]().WithLimits(1, most, 20).Build()
	return func(n int, f func(i int) bool) {
		workers(most, n, func(i int) bool {
			p, _ := l.AcquirePermit(context.Background()) // no error: the context does not end
			defer p.Record()
			return f(i)
		})
	}
}

func goroutines(n int, f func(i int) bool) { workers(n, n, f) }

func workers(workers, n int, f func(i int) bool) {
	var next atomic.Int64
	models.Together(min(workers, n), func(int) {
		for i := int(next.Add(1)) - 1; i < n && f(i); i = int(next.Add(1)) - 1 {
		}
	})
}
