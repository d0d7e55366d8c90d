package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/par"
	"github.com/stint-go/stint/stream"
)

// A symptom is a program before and after a change.
type symptom struct {
	name          string
	n             int // tasks
	before, after program
}

type program func(ctx context.Context, t *trial) error

var symptoms = []symptom{
	{"channels", 2_000_000, scanOverChannel, scanByStream},
	{"workers", 4_000, countByWorkers, countByLoop},
	{"memory", 5_000, fetchByGoroutines, fetchByRange},
	{"latency", 200, answerTogether, answerApart},
	{"idle", 400, sendByCPUs, sendBySearch},
	{"limit", 2_000, queryByFew, queryByMany},
}

// wait is what a task does that waits for a disk or a server.
func wait(d time.Duration) { <-time.NewTimer(d).C }

// decode is what it takes to read a record.
func decode(i int) uint64 {
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64(nil, uint64(i)))
	return binary.LittleEndian.Uint64(sum[:])
}

func scanOverChannel(_ context.Context, t *trial) error {
	records := make(chan uint64)
	go func() {
		defer close(records)
		for i := range t.n {
			records <- decode(i)
		}
	}()
	var sum uint64
	for r := range records {
		sum += r
		t.step()
	}
	t.result("sum", sum)
	return nil
}

func scanByStream(ctx context.Context, t *trial) error {
	records := stream.Generate(func(_ context.Context, emit func(uint64) bool) error {
		for i := 0; i < t.n && emit(decode(i)); i++ {
		}
		return nil
	})
	sum, err := stream.Reduce(ctx, records, 0, func(sum, r uint64) uint64 {
		t.step()
		return sum + r
	})
	t.result("sum", sum)
	return err
}

// A table has counts, 128 KB in all.
type table [32 << 10]uint32

// count is what a task does that computes: it counts 16,000 values. After each 2,000 it lets
// others run, as a task does that takes a lock or writes to a log.
func (c *table) count(i int) {
	value := uint64(i)
	for range 8 {
		for range 2000 {
			value = value*2862933555777941757 + 3037000493
			c[value>>33%uint64(len(c))]++
		}
		runtime.Gosched()
	}
}

// report adds up the tables of the workers.
func report(t *trial, tables []*table) {
	sum := 0
	for _, c := range tables {
		for _, n := range c {
			sum += int(n)
		}
	}
	t.result("tables", len(tables))
	t.result("values counted", sum)
}

func countByWorkers(_ context.Context, t *trial) error {
	jobs := make(chan int, t.n)
	for i := range t.n {
		jobs <- i
	}
	close(jobs)
	tables := make([]*table, 512)
	var wg sync.WaitGroup
	for w := range tables {
		tables[w] = new(table)
		wg.Go(func() {
			for i := range jobs {
				tables[w].count(i)
				t.step()
			}
		})
	}
	wg.Wait()
	report(t, tables)
	return nil
}

func countByLoop(_ context.Context, t *trial) error {
	tables := par.RangeWith(t.n, func() *table { return new(table) }, func(c *table, lo, hi int) {
		for i := lo; i < hi; i++ {
			c.count(i)
			t.step()
		}
	})
	report(t, tables)
	return nil
}

// A client fetches pages, and counts the bytes of those in memory.
type client struct {
	pageSize  int
	now, most atomic.Int64
}

func (c *client) fetch() {
	page := make([]byte, c.pageSize)
	held := c.now.Add(int64(len(page)))
	for most := c.most.Load(); held > most && !c.most.CompareAndSwap(most, held); most = c.most.Load() {
	}
	wait(100 * time.Millisecond)
	runtime.KeepAlive(page)
	c.now.Add(-int64(len(page)))
}

func fetchByGoroutines(_ context.Context, t *trial) error {
	c := client{pageSize: 16 << 10}
	var wg sync.WaitGroup
	for range t.n {
		wg.Go(func() { c.fetch(); t.step() })
	}
	wg.Wait()
	t.result("bytes of pages at once", c.most.Load())
	return nil
}

func fetchByRange(ctx context.Context, t *trial) error {
	const budget = 16 << 20
	c := client{pageSize: 16 << 10}
	err := stint.Range(ctx, t.n, func(context.Context, int) error {
		c.fetch()
		t.step()
		return nil
	}, stint.Limit(budget/c.pageSize))
	t.result("bytes of pages at once", c.most.Load())
	return err
}

// answer sends a lookup of 2 ms every 20 ms, and two reports of 100 ms every second.
func answer(t *trial, lookups, reports *stint.Pool) error {
	took := make([]time.Duration, t.n)
	for i := range t.n {
		if i%50 == 0 {
			for range 2 {
				reports.Go(func(context.Context) { wait(100 * time.Millisecond) })
			}
		}
		asked := time.Now()
		lookups.Go(func(context.Context) {
			wait(2 * time.Millisecond)
			took[i] = time.Since(asked)
		})
		wait(20 * time.Millisecond)
		if i == t.n/2 {
			t.look()
		}
	}
	lookups.Close()
	reports.Close()
	slices.Sort(took)
	t.result("median of the lookups", took[t.n/2].Round(100*time.Microsecond))
	t.result("p99 of the lookups", took[t.n*99/100].Round(100*time.Microsecond))
	return nil
}

func answerTogether(_ context.Context, t *trial) error {
	limit := stint.Limit(2)
	pool := stint.NewPool(limit, stint.Name("answers"))
	t.watch("answers", pool, limit)
	return answer(t, pool, pool)
}

func answerApart(_ context.Context, t *trial) error {
	quick, slow := stint.Limit(2), stint.Limit(2)
	lookups, reports := stint.NewPool(quick, stint.Name("lookups")), stint.NewPool(slow, stint.Name("reports"))
	t.watch("lookups", lookups, quick)
	t.watch("reports", reports, slow)
	return answer(t, lookups, reports)
}

func send(t *trial, limit *stint.Limiter) error {
	pool := stint.NewPool(limit, stint.Queue(100), stint.Name("mail"))
	t.watch("mail", pool, limit)
	for range t.n {
		pool.Go(func(context.Context) { wait(10 * time.Millisecond); t.step() })
	}
	pool.Close()
	t.result("limit", limit.Current())
	return nil
}

func sendByCPUs(_ context.Context, t *trial) error {
	return send(t, stint.Limit(runtime.GOMAXPROCS(0)))
}

func sendBySearch(_ context.Context, t *trial) error { return send(t, stint.Auto(1, 256)) }

// connections are those of a database. A task waits in get for a free one.
type connections chan int

func (c connections) get() int  { return <-c }
func (c connections) put(i int) { c <- i }

func query(ctx context.Context, t *trial, size int) error {
	db := make(connections, size)
	for i := range size {
		db.put(i)
	}
	limit := stint.Auto(1, 256)
	t.watch("database", nil, limit)
	err := stint.Range(ctx, t.n, func(context.Context, int) error {
		c := db.get()
		wait(2 * time.Millisecond)
		db.put(c)
		t.step()
		return nil
	}, limit)
	t.result("limit", limit.Current())
	return err
}

func queryByFew(ctx context.Context, t *trial) error  { return query(ctx, t, 4) }
func queryByMany(ctx context.Context, t *trial) error { return query(ctx, t, 64) }
