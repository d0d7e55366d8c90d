package sha

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// A workload is jobs that run by the article's code.
type workload struct {
	sync.WaitGroup
	job       func(i int) [sha256.Size]byte // nobody reads the result
	submitted func(i int)                   // if not nil, called before a job is submitted
}

// unbounded runs n jobs with a goroutine each. As in the article, a job allocates a
// closure and its call with an argument.
func (w *workload) unbounded(n int) {
	w.Add(n)
	for i := range n {
		if w.submitted != nil {
			w.submitted(i)
		}
		go func(i int) {
			_ = w.job(i)
			w.Done()
		}(i)
	}
	w.Wait()
}

// pool runs n jobs with workers on a channel that holds all jobs.
func (w *workload) pool(n, workers int) {
	w.Add(n)
	jobs := make(chan int, n)
	for range workers {
		go w.worker(jobs)
	}
	for i := range n {
		if w.submitted != nil {
			w.submitted(i)
		}
		jobs <- i
	}
	close(jobs)
	w.Wait()
}

func (w *workload) worker(jobs <-chan int) {
	for i := range jobs {
		_ = w.job(i)
		w.Done()
	}
}

// digest is the article's job.
func digest(i int) [sha256.Size]byte { return sha256.Sum256([]byte(fmt.Sprintf("payload-%d", i))) }

// A shape is one way to run the jobs of a workload.
type shape struct {
	result.Model
	limit func() int // of concurrent jobs; nil: none
	run   func(w *workload, n int)
}

// The names of the article's shapes.
const (
	nameUnbounded = "unbounded"
	nameTen       = "pool-10"
)

var (
	unbounded = shape{
		result.Model{Name: nameUnbounded, Kind: result.Peer, Doc: "a goroutine a job, and a sync.WaitGroup", Unbounded: true}, nil, (*workload).unbounded,
	}
	tenWorkers = shape{
		result.Peer.Model(nameTen, "ten goroutines on a channel that holds all jobs"), func() int { return workers }, func(w *workload, n int) { w.pool(n, workers) },
	}
)

func nameWorkers(times int) string { return fmt.Sprintf("workers-%dx", times) }

// perCPU is a pool with some number of workers for each CPU.
func perCPU(times int) shape {
	m := result.Peer.Model(nameWorkers(times), fmt.Sprintf("%d x GOMAXPROCS goroutines on a channel that holds all jobs", times))
	m.Sweep, m.At = "workers per CPU", float64(times)
	limit := func() int { return times * runtime.GOMAXPROCS(0) }
	return shape{m, limit, func(w *workload, n int) { w.pool(n, limit()) }}
}

// measure measures n jobs, and checks that as many run, and no more at once than the limit.
// The warm-up first starts as many goroutines at once as there are jobs, because the runtime
// keeps their structures, which the article's many runs do not allocate either; not where
// the peak of memory is measured, which they are part of.
func (s shape) measure(m *measure.Meter, w *workload, n int) error {
	if m.Round < 0 && !m.Peaks {
		begin := make(chan struct{})
		warm := &workload{job: func(int) (none [sha256.Size]byte) { <-begin; return }}
		warm.submitted = func(i int) {
			if i == n-1 {
				close(begin)
			}
		}
		warm.unbounded(n)
	}
	m.Start()
	for range m.N {
		s.run(w, n)
	}
	m.Stop()
	limit := n
	if s.limit != nil {
		limit = s.limit()
	}
	return engine.Counted(n, limit, func(task func()) {
		s.run(&workload{job: func(int) (none [sha256.Size]byte) { task(); return }}, n)
	})
}

// digests runs n jobs as the article does.
func (s shape) digests(n int) experiment.Model {
	return experiment.Model{Model: s.Model, Run: func(m *measure.Meter) error { return s.measure(m, &workload{job: digest}, n) }}
}

// timed reports the response times of the jobs of all ops.
func (s shape) timed(n int) experiment.Model {
	return experiment.Model{Model: s.Model, Run: func(m *measure.Meter) error {
		at, took, op := make([]time.Time, n), make([]time.Duration, n*m.N), -1
		w := &workload{
			submitted: func(i int) {
				if i == 0 {
					op++
				}
				at[i] = time.Now()
			},
			job: func(i int) [sha256.Size]byte {
				d := digest(i)
				took[op*n+i] = time.Since(at[i])
				return d
			},
		}
		err := s.measure(m, w, n)
		m.ReportTimes(took)
		return err
	}}
}

// cacheLine is the distance of two reads.
const cacheLine = 64

// reads runs jobs that each read set bytes of data eight times, and yield in between.
func (s shape) reads(data, set int) experiment.Model {
	ones := sync.OnceValue(func() []byte { return bytes.Repeat([]byte{1}, data) })
	return experiment.Model{Model: s.Model, Run: func(m *measure.Meter) error {
		var sum atomic.Int64
		all := ones()
		err := s.measure(m, &workload{job: func(i int) (none [sha256.Size]byte) {
			own := 0
			for range 8 {
				for at := i * set; at < (i+1)*set; at += cacheLine {
					own += int(all[at])
				}
				runtime.Gosched()
			}
			sum.Add(int64(own))
			return
		}}, data/set)
		if want := int64(8 * m.N * data / cacheLine); err == nil && sum.Load() != want {
			err = fmt.Errorf("%d lines were read, want %d", sum.Load(), want)
		}
		return err
	}}
}
