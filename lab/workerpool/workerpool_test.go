// Package workerpool measures ten thousand digests of short texts by a goroutine each and by a pool, under the names of
// goperf.dev's page on worker pools, whose command works here:
//
//	go test -run none -bench 'UnboundedGoroutines|WorkerPool' -benchmem
//
// The digests are stored, so that each op can be checked; the page drops them. Beside them is what the page says in words.
package workerpool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/bench"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/par"
)

const jobs, workers = 10_000, 10 // of an op, and of the pools that have a fixed number

func TestMain(m *testing.M) { bench.Main(m) }

// A work is jobs to run. Closures that hold only a pointer to it, and a job's argument, allocate what the page's do.
type work struct {
	sync.WaitGroup
	job func(i int)
}

// A shape is a way to run n jobs.
type shape func(w *work, n int)

func unbounded(w *work, n int) {
	w.Add(n)
	for i := range n {
		go func(i int) {
			w.job(i)
			w.Done()
		}(i)
	}
	w.Wait()
}

// pool returns a shape of some workers, and some for each CPU, on a channel that holds all jobs.
func pool(fixed, aCPU int) shape {
	return func(w *work, n int) {
		w.Add(n)
		queue := make(chan int, n)
		for range max(1, fixed+aCPU*runtime.GOMAXPROCS(0)) {
			go func() {
				for i := range queue {
					w.job(i)
					w.Done()
				}
			}()
		}
		for i := range n {
			queue <- i
		}
		close(queue)
		w.Wait()
	}
}

// digest is the page's job.
func digest(i int) uint64 {
	d := sha256.Sum256([]byte(fmt.Sprintf("payload-%d", i)))
	return binary.BigEndian.Uint64(d[:])
}

func BenchmarkUnboundedGoroutines(b *testing.B) { measure(b, unbounded, jobs, digest) }
func BenchmarkWorkerPool(b *testing.B)          { measure(b, pool(workers, 0), jobs, digest) }

// BenchmarkSweep is pools of more and more workers: of the page's job, and of a job of ten microseconds.
func BenchmarkSweep(b *testing.B) {
	spin := bench.Steps(10 * time.Microsecond)
	sweep := func(name string, n int, job func(i int) uint64) {
		for _, times := range []int{1, 2, 4, 8, 64, 512} {
			b.Run(fmt.Sprintf("work=%s/workers-a-CPU=%d", name, times), func(b *testing.B) { measure(b, pool(0, times), n, job) })
		}
		b.Run("work="+name+"/one-worker-fewer-than-CPUs", func(b *testing.B) { measure(b, pool(-1, 1), n, job) })
	}
	sweep("digest", jobs, digest)
	sweep("10us", jobs/10, func(i int) uint64 { return bench.Spin(spin + i%2) })
}

// measure also reports response times of the last op, from its start until a job has ended, of one job in sixteen. First
// it runs n goroutines at once: the runtime keeps their structures, which the page's many ops do not allocate either.
func measure(b *testing.B, s shape, n int, job func(i int) uint64) {
	bench.FirstCPUs(b)
	n = bench.Short(n, 500)
	var all sync.WaitGroup
	all.Add(n)
	unbounded(&work{job: func(int) { all.Done(); all.Wait() }}, n)
	want := uint64(0)
	for i := range n {
		want += job(i)
	}
	began, results, took := time.Time{}, make([]uint64, n), make([]time.Duration, n/16+1)
	w := &work{job: func(i int) {
		if results[i] = job(i); i%16 == 0 {
			took[i/16] = time.Since(began)
		}
	}}
	bench.Scheduled(b, want, func() uint64 {
		began = time.Now()
		s(w, n)
		return drain(results)
	}, bench.Collections(), func(b *testing.B) { bench.Latencies(b, took) })
}

// drain returns the sum of results, and clears them.
func drain(results []uint64) (sum uint64) {
	for _, v := range results {
		sum += v
	}
	clear(results)
	return sum
}

// BenchmarkLocality is jobs that each read a set of data eight times: from start to end, or with a yield of the CPU after
// each pass, as jobs that wait a little do. p50-ns is of a pass; all but the first are over data that the job has read.
func BenchmarkLocality(b *testing.B) {
	const passes, line = 8, 64
	data := bytes.Repeat([]byte{1}, bench.Short(64<<20, 8<<20))
	read := func(set int, way string) {
		sums, took := make([]uint64, len(data)/set), make([]time.Duration, len(data)/set*passes)
		w := &work{job: func(i int) {
			for pass := range passes {
				began, sum := time.Now(), uint64(0)
				for at := i * set; at < (i+1)*set; at += line {
					sum += uint64(data[at])
				}
				sums[i] += sum
				took[i*passes+pass] = time.Since(began)
				if way == "yielding" {
					runtime.Gosched()
				}
			}
		}}
		for name, s := range map[string]shape{"goroutines": unbounded, "pool": pool(0, 1)} {
			b.Run(fmt.Sprintf("set=%dKB/way=%s/model=%s", set>>10, way, name), func(b *testing.B) {
				bench.Run(b, uint64(len(data)/line*passes), func() uint64 { s(w, len(sums)); return drain(sums) },
					func(b *testing.B) { bench.Latencies(b, took) })
			})
		}
	}
	read(64<<10, "through")
	read(64<<10, "yielding")
	read(8<<20, "through")
	read(8<<20, "yielding")
}

// BenchmarkList is few digests, where a loop is done before a pool is ready, and the page's list.
func BenchmarkList(b *testing.B) {
	for _, n := range []int{1, 10, 100, bench.Short(jobs, 500)} {
		names := []string{"loop", "goroutines", "pool", "pool-kept", "stint.Map", "par.Map"}
		if n == 10 {
			names = append(names, "example")
		}
		if n == 10 || n > 100 {
			names = append(names, "stint.Pool", "errgroup", "conc.pool", "ants", "pond")
		}
		for _, m := range ways(b, names...) {
			b.Run(fmt.Sprintf("jobs=%d/model=%s", n, m.Name), func(b *testing.B) { run(b, n, m.Model, digest) })
		}
	}
}

// BenchmarkTasks is a thousand tasks of 5 µs, and as much work where the first fifty have half. Pieces are fixed parts.
func BenchmarkTasks(b *testing.B) {
	const n, first = 1000, 50
	all := bench.Steps(n * 5 * time.Microsecond)
	for cost, steps := range map[string][2]int{"even": {all / n, all / n}, "uneven": {all / 2 / first, all / 2 / (n - first)}} {
		job := func(i int) uint64 { return bench.Spin(steps[min(1, i/first)]) }
		named := ways(b, "loop", "goroutines", "pool-of-CPUs", "pieces", "stint.Pool", "stint.Map", "par.Map", "pond")
		models.Each(b, "cost="+cost+"/model=", named, func(b *testing.B, m models.Model) { run(b, n, m, job) })
	}
}

func run(b *testing.B, n int, m models.Model, job func(i int) uint64) {
	list := models.Indexes(n)
	item := func(x float64) uint64 { return job(int(x)) }
	bench.Run(b, models.Sequential(list, item), func() uint64 { return m(list, item) })
}

// ways returns models of a list of jobs. The sums show the errors that they drop.
func ways(b *testing.B, names ...string) (out []models.Named) {
	all := append([]models.Named{
		{Name: "loop", Model: models.Sequential},
		{Name: "example", Model: example},
		{Name: "goroutines", Model: byIndex(unbounded)},
		{Name: "pool", Model: byIndex(pool(workers, 0))},
		{Name: "pool-of-CPUs", Model: byIndex(pool(0, 1))},
		{Name: "pool-kept", Model: byIndex(kept(b, servePool, workers))},
		{Name: "pieces", Model: func(list []float64, f models.Item) uint64 { return models.Balanced(runtime.GOMAXPROCS(0))(list, f) }},
		{Name: "stint.Pool", Model: byIndex(kept(b, serveStint, 0))},
		{Name: "par.Map", Model: func(list []float64, f models.Item) uint64 { return drain(par.Map(list, f)) }},
	}, models.Libraries(workers)...)
	for _, name := range names {
		out = append(out, all[slices.IndexFunc(all, func(m models.Named) bool { return m.Name == name })])
	}
	return out
}

func byIndex(s shape) models.Model {
	return models.ByIndex(func(n int, f func(i int)) { s(&work{job: f}, n) })
}

// kept is the shape of a server that is started before the ops, and remains.
func kept(b *testing.B, s server, workers int) shape {
	var now *work
	try, finish := s(workers, jobs, func(i int) { now.job(i); now.Done() })
	b.Cleanup(finish)
	return func(w *work, n int) {
		now = w
		w.Add(n)
		for i := range n {
			try(i) // there is room for all
		}
		w.Wait()
	}
}

// example is the page's first program: five workers, and room for 100 jobs and 100 results. No result is read before all
// jobs are submitted, so that it would never end with more than 205.
func example(list []float64, f models.Item) (sum uint64) {
	in, out := make(chan float64, 100), make(chan uint64, 100)
	for range 5 {
		go func() {
			for x := range in {
				out <- f(x)
			}
		}()
	}
	for _, x := range list {
		in <- x
	}
	close(in)
	for range list {
		sum += <-out
	}
	return sum
}

// A server starts workers. try submits job i if there is room, without waiting; finish waits for the jobs.
type server func(workers, room int, job func(i int)) (try func(i int) bool, finish func())

func serveUnbounded(_, _ int, job func(int)) (func(int) bool, func()) {
	var wg sync.WaitGroup
	return func(i int) bool { wg.Go(func() { job(i) }); return true }, wg.Wait
}

func servePool(workers, room int, job func(int)) (func(int) bool, func()) {
	queue := make(chan int, room)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range queue {
				job(i)
			}
		})
	}
	return func(i int) bool {
		select {
		case queue <- i:
			return true
		default:
			return false
		}
	}, func() { close(queue); wg.Wait() }
}

func serveStint(workers, room int, job func(int)) (func(int) bool, func()) {
	p := stint.NewPool(stint.Queue(room))
	if workers > 0 {
		p = stint.NewPool(stint.Limit(workers), stint.Queue(room))
	}
	return func(i int) bool { return p.TryGo(func(context.Context) { job(i) }) }, p.Close
}

// BenchmarkLoad is jobs that compute for 2 ms and arrive at random times, whether or not those before have finished: as
// many a second as are a part of what the CPUs can do. A pool has a worker a CPU and room for 16 jobs a CPU, and refuses
// more. Some jobs then wait for 20 ms: to keep a CPU busy takes 11 workers, and pools have 16. A response time counts from
// the planned arrival. queued-ns is the mean time until an accepted job starts.
func BenchmarkLoad(b *testing.B) {
	for _, c := range []struct {
		work          string
		wait          time.Duration
		load, workers int
	}{{"computes", 0, 10, 1}, {"computes", 0, 75, 1}, {"computes", 0, 120, 1}, {"waits", 20 * time.Millisecond, 25, 16}} {
		run := func(model string, s server, workers int) {
			b.Run(fmt.Sprintf("work=%s/load=%d%%/model=%s", c.work, c.load, model), func(b *testing.B) {
				arrive(b, s, c.load, workers, c.wait)
			})
		}
		run("goroutines", serveUnbounded, 0)
		run("pool", servePool, c.workers)
		run("stint.Pool-with-Limit", serveStint, c.workers)
		run("stint.Pool", serveStint, 0)
		if c.wait > 0 {
			run("pool-of-CPUs", servePool, 1)
		}
	}
}

func arrive(b *testing.B, s server, load, workers int, wait time.Duration) {
	const cost = 2 * time.Millisecond
	bench.FirstCPUs(b)
	cpus, steps, end := runtime.GOMAXPROCS(0), bench.Steps(cost), float64(bench.Short(time.Second, 15*time.Millisecond))
	random := rand.New(rand.NewPCG(uint64(load), uint64(bench.Round()))) // the same for all servers of a round
	var plan []time.Duration
	for at := 0.0; at < end; at += random.ExpFloat64() * float64(cost) / float64(cpus*load) * 100 {
		plan = append(plan, time.Duration(at))
	}
	mu, queued, took, refused := sync.Mutex{}, time.Duration(0), make([]time.Duration, 0, len(plan)), 0
	bench.Sample(b, func() error {
		queued, took, refused = 0, took[:0], 0
		began := time.Now()
		try, finish := s(workers*cpus, 16*cpus, func(i int) {
			start := time.Since(began)
			runtime.KeepAlive(bench.Spin(steps))
			time.Sleep(wait)
			mu.Lock()
			defer mu.Unlock()
			queued += start - plan[i]
			took = append(took, time.Since(began)-plan[i])
		})
		for i, at := range plan {
			time.Sleep(time.Until(began.Add(at)))
			if !try(i) {
				refused++
			}
		}
		finish()
		if len(took) != len(plan)-refused {
			return fmt.Errorf("%d of %d jobs were refused, and %d ran", refused, len(plan), len(took))
		}
		return nil
	})
	b.ReportMetric(float64(refused)/float64(len(plan)), "refused")
	b.ReportMetric(float64(queued)/float64(len(took)), "queued-ns")
	bench.Latencies(b, took)
}
