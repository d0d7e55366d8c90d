package output

import (
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// TestPrinterTurn lets the turn come to jobs at every moment of their start.
func TestPrinterTurn(t *testing.T) {
	const n = 2000
	var out strings.Builder
	p := New(Format{}, console.Streams{Stdout: &out, Stderr: io.Discard}, console.New(io.Discard), func(err error) { t.Error(err) })
	ended := make(chan *Job, n)
	var wg sync.WaitGroup
	for worker := range 2 {
		wg.Go(func() {
			for i := worker; i < n; i += 2 {
				j := &Job{Position: int64(i)}
				p.Begin(j, true)
				_, _ = io.WriteString(j.Stdout, "x\n")
				ended <- j
			}
		})
	}
	kept := make(map[int64]*Job)
	for next := int64(0); next < n; {
		j := <-ended
		kept[j.Position] = j
		for kept[next] != nil {
			p.Finish(kept[next])
			next++
		}
	}
	wg.Wait()
	if err := p.Close(); err != nil || out.String() != strings.Repeat("x\n", n) {
		t.Errorf("%d bytes, %v; want %d", out.Len(), err, 2*n)
	}
}
