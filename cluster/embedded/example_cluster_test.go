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
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cluster/embedded"
)

// The items need not be there at once, nor the results.
func Example_sequence() {
	e, err := embedded.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	defer work(e)()

	for n, err := range cluster.MapSeq(context.Background(), e, square, slices.Values([]int{1, 2, 3})) {
		fmt.Println(n, err)
	}
	// Output:
	// 1 <nil>
	// 4 <nil>
	// 9 <nil>
}

// A run with a name outlives the process that began it.
func Example_resume() {
	e, err := embedded.Open(embedded.Listen("localhost:0", nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()

	// The submitter, in its own process, waits for workers. There are none.
	submitter, err := cluster.Connect(context.Background(), e.URL())
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error)
	go func() {
		_, err := cluster.Map(context.Background(), submitter, square, []int{1, 2, 3}, stint.Name("squares/may"))
		ended <- err
	}()
	queued := func() int {
		s, err := e.Status(context.Background())
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

	// Another goes on with it.
	defer work(e)()
	for n, err := range cluster.Resume(context.Background(), e, square, "squares/may") {
		if errors.Is(err, cluster.ErrIncomplete) {
			break // the submitter has not noted yet that these were all
		}
		fmt.Println(n, err)
	}
	// Output:
	// stint: closed
	// 1 <nil>
	// 4 <nil>
	// 9 <nil>
}

// What a task's function can rely on is said where it is made.
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
		cluster.Lease(time.Minute),        // a worker that died is noticed after that
		cluster.Timeout(10*time.Minute),   // a call that hangs does not keep its slot
		cluster.WindowBytes(64<<20),       // of items and results under way
		cluster.Sentinels(fs.ErrNotExist), // errors.Is finds it on the other side as well
		cluster.Codec(encodeGob, gobInto), // instead of JSON
	)
	e, err := embedded.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	e.Handle(size)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- cluster.Serve(ctx, e, stint.Limit(1)) }()

	sizes, err := cluster.Map(ctx, e, size, []string{"go.mod", "none"}, stint.KeepGoing())
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

// What two programs keep apart on one server.
func Example_engine() {
	server, err := embedded.Open(embedded.Listen("localhost:0", nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	reports, err := cluster.Connect(context.Background(), server.URL(),
		cluster.Prefix("reports"), // apart from those of others
		cluster.Memory(),          // they can be made again
		cluster.Keep(time.Hour),   // a submitter that died is replaced within it
		cluster.QueueLimit(1000),  // then submitters wait
		cluster.Log(slog.New(slog.NewTextHandler(os.Stderr, nil))))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reports.Close()
	defer work(reports)()
	fmt.Println(cluster.Map(context.Background(), reports, square, []int{1, 2, 3}))

	s, err := server.Status(context.Background()) // knows nothing of reports
	fmt.Println(len(s.Tasks), len(s.Workers), err)
	// Output:
	// [1 4 9] <nil>
	// 0 0 <nil>
}

// A program that is only the server waits for a signal, or for the end of the server.
func Example_wait() {
	e, err := embedded.Open(embedded.Listen("localhost:0", nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Millisecond) // signal.NotifyContext
	defer stop()
	fmt.Println(e.Wait(ctx))
	e.Close()
	fmt.Println(e.Wait(context.Background()))
	// Output:
	// context deadline exceeded
	// stint: closed
}
