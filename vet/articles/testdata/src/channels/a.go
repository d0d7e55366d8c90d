package channels

import (
	"bufio"
	"context"
	"encoding/csv"
	"io"
	"math"
	"net"
	"os"
	"strings"
)

func words(name string) (n int) {
	lines := make(chan string)
	go func() {
		defer close(lines)
		f, _ := os.Open(name)
		for s := bufio.NewScanner(f); s.Scan(); {
			lines <- s.Text() // want `a channel operation for each record.*Elliott Jin`
		}
	}()
	for line := range lines {
		n += len(strings.Fields(line))
	}
	return n
}

type scan struct {
	r       *csv.Reader
	records chan []string
}

func open(ctx context.Context, name string) *scan {
	f, _ := os.Open(name)
	s := &scan{r: csv.NewReader(bufio.NewReader(f)), records: make(chan []string)}
	go s.produce(ctx)
	return s
}

func (s *scan) produce(ctx context.Context) {
	for {
		record, err := s.r.Read()
		if err != nil {
			close(s.records)
			return
		}
		select {
		case s.records <- record: // want `a channel operation for each record`
		case <-ctx.Done():
			return
		}
	}
}

func (s *scan) next() []string { return <-s.records }

func batches(name string) (n int) {
	batches := make(chan [][]string)
	go func() {
		f, _ := os.Open(name)
		var batch [][]string
		for r := csv.NewReader(f); ; {
			record, err := r.Read()
			if batch = append(batch, record); err != nil || len(batch) == 1000 {
				batches <- batch
				batch = nil
			}
		}
	}()
	for batch := range batches {
		n += len(batch)
	}
	return n
}

func fetched(text string) { // the receiver waits
	urls := make(chan string)
	go func() {
		for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
			urls <- s.Text()
		}
	}()
	for url := range urls {
		net.Dial("tcp", url)
	}
}

func workers(text string) { // many receivers
	words := make(chan string)
	for range 4 {
		go func() {
			for w := range words {
				strings.ToUpper(w)
			}
		}()
	}
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		words <- s.Text()
	}
}

func elsewhere(r io.Reader) (n int) { // what it reads may be slow
	lines := make(chan string)
	go func() {
		for s := bufio.NewScanner(r); s.Scan(); {
			lines <- s.Text()
		}
	}()
	for line := range lines {
		n += len(line)
	}
	return n
}

func typed() (n int) {
	lines := make(chan string)
	go func() {
		for s := bufio.NewScanner(os.Stdin); s.Scan(); {
			lines <- s.Text()
		}
	}()
	for line := range lines {
		n += len(line)
	}
	return n
}

func unseen(text string) <-chan string { // who receives is elsewhere
	lines := make(chan string)
	go func() {
		for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
			lines <- s.Text()
		}
	}()
	return lines
}

func stages(in <-chan float64, urls <-chan int, out chan<- float64) {
	for x := range in {
		out <- power(x) // want `two channel operations for each number.*par.Map.*baixiaoustc`
	}
	for x := range in {
		out <- x // several in one
	}
	for id := range urls {
		out <- load(id)
	}
}

func power(x float64) float64 { return math.Pow(3, x) }

func load(id int) float64 {
	net.Dial("tcp", "")
	return float64(id)
}
