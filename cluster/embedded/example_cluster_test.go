package embedded_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cluster/embedded"
)

// MapSeq bounds how far it is ahead of its results.
func Example_sequence() {
	c, err := embedded.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	defer work(c)()

	for n, err := range cluster.MapSeq(context.Background(), c, square, slices.Values([]int{1, 2, 3}), cluster.Queue(100), cluster.Unordered()) {
		fmt.Println(n, err)
	}
	// Unordered output:
	// 1 <nil>
	// 4 <nil>
	// 9 <nil>
}

// A function sends a result that is larger than a message in parts, and the submitter writes them to
// where they belong as they come.
func Example_parts() {
	tree := cluster.NewTask("tree/v1", func(ctx context.Context, depth int) (lines int, err error) {
		for i := range depth {
			if err := cluster.SendPart(ctx, fmt.Appendf(nil, "%*s\n", i+1, "*")); err != nil {
				return 0, err
			}
		}
		return depth, nil
	})
	c, err := embedded.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	c.Handle(tree)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go cluster.Serve(ctx, c)

	parts := cluster.Parts(func(p cluster.Part) { os.Stdout.Write(p.Data) }) // here no call is repeated
	for lines, err := range cluster.MapSeq(ctx, c, tree, slices.Values([]int{3}), parts) {
		fmt.Println(lines, err)
	}
	// Output:
	// *
	//  *
	//   *
	// 3 <nil>
}

// A source that waits for more items watches its context, which ends with the run.
func Example_mapFrom() {
	c, err := embedded.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	defer work(c)()

	arriving := make(chan int, 3)
	arriving <- 1
	arriving <- 2
	arriving <- 3 // and nobody closes it
	numbers := func(ctx context.Context, emit func(int) bool) error {
		for {
			select {
			case n := <-arriving:
				if !emit(n) {
					return nil
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	for n, err := range cluster.MapFrom(context.Background(), c, square, numbers) {
		fmt.Println(n, err)
		if n == 9 {
			break
		}
	}
	// Output:
	// 1 <nil>
	// 4 <nil>
	// 9 <nil>
}

// A run with a Name outlives its submitter.
func Example_resume() {
	c, err := embedded.Open(embedded.Listen("localhost:0", nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	// The submitter, in its own process, waits for workers. There are none.
	submitter, err := cluster.Connect(context.Background(), c.URL())
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error)
	go func() {
		_, err := cluster.Map(context.Background(), submitter, square, []int{1, 2, 3}, cluster.Name("squares/may"))
		ended <- err
	}()
	queued := func() int {
		s, err := c.Status(context.Background())
		if err != nil || len(s.Tasks) == 0 {
			return 0
		}
		return s.Tasks[0].Queued
	}
	for queued() < 3 {
		time.Sleep(time.Millisecond)
	}
	submitter.Close()
	fmt.Println(<-ended)

	// Another submitter continues the run.
	defer work(c)()
	for n, err := range cluster.Resume(context.Background(), c, square, "squares/may") {
		if errors.Is(err, cluster.ErrIncomplete) {
			break // the submitter had not recorded that these were all items
		}
		fmt.Println(n, err)
	}
	// Output:
	// stint: closed
	// 1 <nil>
	// 4 <nil>
	// 9 <nil>
}

// A worker and a submitter on two machines: each is a program that connects to the server, which
// is "stint serve" on one of them.
func Example_twoMachines() {
	double := cluster.NewTask("double/v1", func(_ context.Context, word string) (string, error) {
		return word + word, nil
	})
	work := func(ctx context.Context, url string) error { // the program on second
		c, err := cluster.Connect(ctx, url)
		if err != nil {
			return err
		}
		defer c.Close()
		c.Handle(double)
		return cluster.Serve(ctx, c, cluster.Limit(4)) // when ctx ends, it finishes its tasks and returns nil
	}
	submit := func(ctx context.Context, url string) ([]string, error) { // the program on first
		c, err := cluster.Connect(ctx, url)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		return cluster.Map(ctx, c, double, []string{"can", "dum", "pom"})
	}

	server, err := embedded.Open(embedded.Listen("localhost:0", embedded.Token("sesame"))) // here, instead of stint serve
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	url := strings.Replace(server.URL(), "nats://", "nats://sesame@", 1) // nats://TOKEN@first:4222

	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- work(ctx, url) }()
	fmt.Println(submit(ctx, url))
	stop()
	fmt.Println(<-served)
	// Output:
	// [cancan dumdum pompom] <nil>
	// <nil>
}

// The options of a task are given where it is made.
func Example_task() {
	size := cluster.NewTask("size/v1", func(ctx context.Context, name string) (int64, error) {
		info := cluster.TaskInfo(ctx)
		if info.Attempt == 1 {
			return 0, fmt.Errorf("%s is not there yet: %w", name, fs.ErrNotExist)
		}
		fmt.Println("item", info.Index, "attempt", info.Attempt)
		if name == "none" {
			return 0, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
		}
		return int64(len(name)), nil
	},
		cluster.Retry(1, time.Millisecond),
		cluster.Lease(time.Minute),        // after which a dead worker loses it
		cluster.Timeout(10*time.Minute),   // after which a hanging call loses its slot
		cluster.Sentinels(fs.ErrNotExist), // for errors.Is at the submitter
		cluster.Codec(encodeGob, gobInto), // instead of JSON
	)
	c, err := embedded.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	c.Handle(size)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- cluster.Serve(ctx, c, cluster.Limiter(stint.Auto(1, 1))) }()

	sizes, err := cluster.Map(ctx, c, size, []string{"go.mod", "none"}, cluster.KeepGoing(), cluster.WindowBytes(64<<20))
	fmt.Println(sizes, errors.Is(err, fs.ErrNotExist))
	stop()
	<-served
	// Output:
	// item 0 attempt 2
	// item 1 attempt 2
	// [6 0] true
}

// encodeGob and gobInto are a codec.
func encodeGob(v any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

func gobInto(data []byte, v any) error {
	return gob.NewDecoder(bytes.NewReader(data)).Decode(v)
}

// Two programs on one server have a Prefix each.
func Example_client() {
	server, err := embedded.Open(embedded.Listen("localhost:0", nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	reports, err := cluster.Connect(context.Background(), server.URL(),
		cluster.Prefix("reports"),
		cluster.Memory(),                 // reports can be made again
		cluster.Retention(time.Hour),     // within which a run can be resumed
		cluster.Heartbeat(5*time.Second), // a dead submitter is noticed after 20 s
		cluster.QueueLimit(1000),         // beyond which submitters wait
		cluster.FullTimeout(time.Minute), // for a server without room
		cluster.Log(slog.New(slog.NewTextHandler(os.Stderr, nil))))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reports.Close()
	defer work(reports)()
	fmt.Println(cluster.Map(context.Background(), reports, square, []int{1, 2, 3}))

	s, err := server.Status(context.Background()) // does not see reports
	fmt.Println(len(s.Tasks), len(s.Workers), err)
	// Output:
	// [1 4 9] <nil>
	// 0 0 <nil>
}

// A program that is only the server waits for a signal, or for the end of the server.
func Example_wait() {
	c, err := embedded.Open(embedded.Listen("localhost:0", nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Millisecond) // signal.NotifyContext
	defer stop()
	fmt.Println(c.Wait(ctx))
	c.Close()
	fmt.Println(c.Wait(context.Background()))
	// Output:
	// context deadline exceeded
	// stint: closed
}
