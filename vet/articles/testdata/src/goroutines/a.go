package goroutines

import (
	"bufio"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

type item struct {
	id  int
	url string
}

type service struct{ run func() }

func fetch(string)      {}
func handle(item)       {}
func process(int) error { return nil }

func elements(urls []string) {
	var wg sync.WaitGroup
	for _, url := range urls {
		wg.Add(1)
		go func() { // want `a goroutine for each element of urls.*stint.Each \(goperf.dev`
			defer wg.Done()
			fetch(url)
		}()
	}
	wg.Wait()
}

func indexes(items []item) {
	var wg sync.WaitGroup
	for i := 0; i < len(items); i++ {
		wg.Go(func() { handle(items[i]) }) // want `for each element of items`
	}
	for i := range len(items) {
		wg.Go(func() { handle(items[i]) }) // want `for each element of items`
	}
	wg.Wait()
}

func entries(urls map[string]int) error {
	var g errgroup.Group
	for url := range urls {
		g.Go(func() error { fetch(url); return nil }) // want `for each entry of urls.*stint.EachSeq`
	}
	return g.Wait()
}

func values(items <-chan item) {
	for it := range items {
		go handle(it) // want `for each value of items.*stint.EachSeq`
	}
}

func lines(text string) {
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		go fetch(s.Text()) // want `for each line`
	}
}

func read(dir string) {
	results := make(chan int)
	names := strings.Split(dir, " ")
	for _, name := range names {
		go func() { // want `for each element of names`
			fetch(name)
			results <- len(name)
		}()
	}
	for range names {
		<-results
	}
}

func numbers(n int) {
	for i := range 1001 {
		go process(i) // want `for each of 1001 numbers.*par.Range`
	}
	for i := range 1000 {
		go process(i)
	}
	for i := 0; i < n; i++ { // a number that somebody chose
		go process(i)
	}
}

func bounded(urls []string) {
	var wg sync.WaitGroup
	sem := make(chan struct{}, 8)
	for _, url := range urls {
		sem <- struct{}{}
		wg.Go(func() { fetch(url); <-sem })
	}
	for _, url := range urls {
		wg.Go(func() {
			sem <- struct{}{}
			defer func() { <-sem }()
			fetch(url)
		})
	}
	for i, url := range urls {
		if i >= 8 {
			break
		}
		wg.Go(func() { fetch(url) })
	}
	for _, url := range urls {
		time.Sleep(time.Second)
		wg.Go(func() { fetch(url) })
	}
	for i, url := range urls {
		wg.Go(func() { fetch(url) })
		if i%8 == 7 {
			wg.Wait()
		}
	}
	wg.Wait()
}

func limited(urls []string) error {
	var g errgroup.Group
	g.SetLimit(8)
	for _, url := range urls {
		g.Go(func() error { fetch(url); return nil })
	}
	return g.Wait()
}

func few(listeners []net.Listener, services []service, servers []string, shards [][]int, fns ...string) {
	var wg sync.WaitGroup
	for _, l := range listeners {
		wg.Go(func() { l.Close() })
	}
	for _, s := range services {
		wg.Go(func() { s.run() })
	}
	for _, s := range servers {
		wg.Go(func() { fetch(s) })
	}
	for _, s := range shards {
		wg.Go(func() { process(len(s)) })
	}
	for _, s := range fns {
		wg.Go(func() { fetch(s) })
	}
	for _, s := range []string{"a", "b"} {
		wg.Go(func() { fetch(s) })
	}
	local := []string{"a", "b"}
	for _, s := range local {
		wg.Go(func() { fetch(s) })
	}
	wg.Wait()
}

func servers(names []string, jobs chan item, l net.Listener) {
	var wg sync.WaitGroup
	for _, name := range names { // each a worker
		wg.Go(func() {
			for range jobs {
				fetch(name)
			}
		})
	}
	wg.Wait()
	for _, name := range names { // nobody waits: notifications
		go fetch(name)
	}
	for { // the server of a listener
		conn, err := l.Accept()
		if err != nil {
			os.Exit(1)
		}
		go conn.Close()
	}
}

func add(n int) {
	var wg sync.WaitGroup
	for range n {
		go func() {
			wg.Add(1) // want `WaitGroup.Add in the goroutine that it counts.*stint.Group`
			defer wg.Done()
		}()
	}
	go func() {
		time.Sleep(1)
		wg.Add(1) // perhaps of another
		wg.Done()
	}()
	wg.Wait()
}
