package tests

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stint-go/stint/cluster"
)

// A submitter and a worker use no more memory in the middle of a long run than at its
// start, and the server holds nothing after it. It does not run in parallel, since it looks
// at the heap.
func TestMemoryIsFlat(t *testing.T) {
	const n, early, size, bound = 12_000, 4_000, 1000, 4 << 20
	port := freePorts(t, 1)[0]
	where := "nats://" + loopback(port)
	start(t, part{Role: "server", Server: node{Port: port}})
	counter := look(t, where)
	counter.connected(t)

	text := strings.Repeat("x", size)
	task := cluster.NewTask("echo/v1", func(_ context.Context, in item) (item, error) { return in, nil })
	serve(t, connect(t, where, cluster.Memory()), 16, task)
	var ahead atomic.Int64
	in := func(yield func(item) bool) {
		for i := range n {
			ahead.Add(1)
			if !yield(item{N: i, Text: text}) {
				return
			}
		}
	}
	var before uint64
	i := 0
	for out, err := range cluster.MapSeq(bounded(t), connect(t, where, cluster.Memory()), task, in, cluster.Queue(512)) {
		if err != nil {
			t.Fatal(err)
		}
		if out.N != i || len(out.Text) != size {
			t.Fatalf("result %d is %+v", i, out)
		}
		switch i++; i {
		case early:
			before = heap()
		case n - 1:
			if after := heap(); after > before+bound {
				t.Errorf("the heap has grown from %d to %d bytes between results %d and %d", before, after, early, i)
			}
		}
	}
	equal(t, "number of results", i, n)
	counter.nothingLeft(t)
}

// heap returns how many bytes are in use.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
