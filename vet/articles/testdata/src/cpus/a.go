package cpus

import (
	"crypto/sha256"
	"database/sql"
	"flag"
	"net"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

func get(url string)        { net.Dial("tcp", url) }
func sum(b []byte) [32]byte { return sha256.Sum256(b) }

func loop(urls chan string) {
	var wg sync.WaitGroup
	for range runtime.NumCPU() { // want `as many workers as CPUs for work that waits \(net.Dial\).*stint.Each.*William Kennedy`
		wg.Go(func() {
			for url := range urls {
				get(url)
			}
		})
	}
	n := max(1, runtime.GOMAXPROCS(0)/2)
	if n < 2 {
		n = 2
	}
	for i := 0; i < n; i++ { // want `that waits \(net.Dial\)`
		go get("")
	}
	chosen := runtime.NumCPU() * 10
	for range chosen {
		go get("")
	}
	grown := runtime.NumCPU()
	grown *= 10
	for range grown {
		go get("")
	}
	asked := runtime.NumCPU()
	flag.IntVar(&asked, "n", asked, "workers")
	for range asked {
		go get("")
	}
	for range runtime.NumCPU() {
		go sum(nil)
	}
	for range runtime.NumCPU() { // a process computes
		go exec.Command("cc").Run()
	}
	for range runtime.NumCPU() { // a retry waits
		go func() {
			for try := range 3 {
				if try > 0 {
					time.Sleep(time.Second)
				}
				sum(nil)
			}
		}()
	}
	wg.Wait()
}

func find(n int, paths chan string) {
	for range n { // want `time.Sleep`
		go func() {
			for range paths {
				time.Sleep(time.Millisecond)
			}
		}()
	}
}

func callers(paths chan string) {
	find(runtime.NumCPU(), paths)
	mixed(runtime.NumCPU(), paths)
	mixed(64, paths)
}

func mixed(n int, paths chan string) {
	for range n {
		go func() {
			for p := range paths {
				get(p)
			}
		}()
	}
}

func Exported(n int, paths chan string) { // other packages may call it
	for range n {
		go func() {
			for p := range paths {
				get(p)
			}
		}()
	}
}

func exported(paths chan string) { Exported(runtime.NumCPU(), paths) }

func group(db *sql.DB, ids []int) error {
	var g errgroup.Group
	g.SetLimit(runtime.NumCPU())
	for _, id := range ids {
		g.Go(func() error { // want `sql.DB.Exec`
			_, err := db.Exec("", id)
			return err
		})
	}
	return g.Wait()
}

type work func(any)

func newPool(n int, f work) {}

func pools() {
	n := runtime.NumCPU()
	newPool(n, func(v any) { // want `time.Sleep`
		if d, ok := v.(time.Duration); ok {
			time.Sleep(d)
		}
	})
	newPool(n, func(any) { sum(nil) })
	newPool(64, func(any) { get("") })
}

type config struct{ Workers, workers int }

func (c *config) run() {
	c.Workers = runtime.NumCPU() // if nobody has set it
	for range c.Workers {
		go get("")
	}
	c.workers = runtime.NumCPU()
	for range c.workers { // want `net.Dial`
		go get("")
	}
}

func byDefault(n int) {
	if n == 0 {
		n = runtime.NumCPU()
	}
	for range n {
		go get("")
	}
}

type options struct{}

func newOptions(n int) *options     { return &options{} }
func (o *options) OnError(f func()) {}

func hooks() {
	o := newOptions(runtime.NumCPU())
	o.OnError(func() { get("") })
}
