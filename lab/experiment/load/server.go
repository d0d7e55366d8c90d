package load

import (
	"context"
	"sync"

	"github.com/alitto/pond/v2"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/result"
)

// A server runs jobs as they arrive.
type server struct {
	result.Model

	// open starts it. try submits job i, without waiting, and reports whether it was
	// accepted. finish waits for the jobs.
	open func(workers, queue int, job func(i int)) (try func(i int) bool, finish func())
}

// The names of servers.
const (
	nameGoroutines = "goroutines"
	namePool       = "pool"
	nameLimit      = "stint.Pool"
	nameAuto       = "stint.Pool-auto"
)

var servers = []server{
	{result.Model{Name: nameGoroutines, Kind: result.Peer, Doc: "a goroutine a job, and a sync.WaitGroup: no job is refused", Unbounded: true}, goroutines},
	{result.Peer.Model(namePool, "workers on a channel with room, select and default"), pool},
	{result.Peer.Model("pond", "alitto/pond/v2 v2.7.1, WithQueueSize, WithNonBlocking"), pondPool},
	{result.Ours.Model(nameLimit, "NewPool with a Limit and a Queue, TryGo"), func(workers, queue int, job func(int)) (func(int) bool, func()) {
		return stintPool(job, stint.Limit(workers), stint.Queue(queue))
	}},
	{result.Ours.Model(nameAuto, "NewPool with a Queue and no number of workers, TryGo"), func(_, queue int, job func(int)) (func(int) bool, func()) {
		return stintPool(job, stint.Queue(queue))
	}},
}

func goroutines(_, _ int, job func(int)) (func(int) bool, func()) {
	var wg sync.WaitGroup
	return func(i int) bool {
		wg.Go(func() { job(i) })
		return true
	}, wg.Wait
}

func pool(workers, queue int, job func(int)) (func(int) bool, func()) {
	jobs := make(chan int, queue)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range jobs {
				job(i)
			}
		})
	}
	return func(i int) bool {
		select {
		case jobs <- i:
			return true
		default:
			return false
		}
	}, func() { close(jobs); wg.Wait() }
}

func pondPool(workers, queue int, job func(int)) (func(int) bool, func()) {
	p := pond.NewPool(workers, pond.WithQueueSize(queue), pond.WithNonBlocking(true))
	return func(i int) bool { return p.Go(func() { job(i) }) == nil }, p.StopAndWait
}

func stintPool(job func(int), opts ...stint.Option) (func(int) bool, func()) {
	p := stint.NewPool(opts...)
	return func(i int) bool { return p.TryGo(func(context.Context) { job(i) }) }, p.Close
}
