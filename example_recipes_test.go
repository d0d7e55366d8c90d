package stint_test

import (
	"context"
	"errors"
	"expvar"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint"
)

// The Examples of this file are the programs of docs/recipes.md.

// A consumer that handles messages in order within a key and commits their offsets in order.
// After an error it continues behind the last commit.
func ExampleMapKey() {
	type message struct{ customer, text string }
	log := []message{{"ann", "pay 5"}, {"bob", "pay 7"}, {"ann", "pay 9"}, {"ann", "pay 3"}}
	committed := 0
	consume := func(handle func(context.Context, message) (string, error)) error {
		messages := slices.Values(log[committed:])
		customer := func(m message) string { return m.customer }
		for done, err := range stint.MapKey(context.Background(), messages, customer, handle, stint.Limit(8)) {
			if err != nil {
				return err // messages behind it may have been handled: handle must be idempotent
			}
			committed++
			fmt.Println(done, "is committed at", committed)
		}
		return nil
	}

	tries := 0
	handle := func(_ context.Context, m message) (string, error) {
		if m.text == "pay 9" {
			if tries++; tries == 1 {
				return "", errors.New("no connection")
			}
		}
		return m.text, nil
	}
	for consume(handle) != nil { // starts again behind the last message that is committed
	}
	fmt.Println("pay 9 took", tries, "tries")
	// Output:
	// pay 5 is committed at 1
	// pay 7 is committed at 2
	// pay 9 is committed at 3
	// pay 3 is committed at 4
	// pay 9 took 2 tries
}

// At most 2 calls of a tenant, and 8 in all. A tenant that floods waits at its own limit.
func ExampleLimiters_recipeTenants() {
	tenants := stint.NewLimiters(func(tenant string) *stint.Limiter { // called by the first call of a tenant
		return stint.Limit(2)
	})
	all := stint.Limit(8)
	handle := func(ctx context.Context, tenant string, f func(context.Context) error) error {
		return tenants.Do(ctx, tenant, func(ctx context.Context) error { // first: who waits here has no permit of all
			return all.Do(ctx, f)
		})
	}

	started, end := make(chan struct{}, 100), make(chan struct{})
	var flood sync.WaitGroup
	for range 100 {
		flood.Go(func() {
			handle(context.Background(), "big", func(context.Context) error {
				started <- struct{}{}
				<-end
				return nil
			})
		})
	}
	<-started
	<-started
	err := handle(context.Background(), "small", func(context.Context) error {
		fmt.Println("small runs beside", all.Stats().Running-1, "of big")
		return nil
	})
	close(end)
	flood.Wait()
	fmt.Println(err, tenants.Len())
	// Output:
	// small runs beside 2 of big
	// <nil> 2
}

// Three workers, and every error.
func ExampleNewGroup_recipeErrors() {
	process := func(_ context.Context, job int) error {
		if job%2 == 1 {
			return fmt.Errorf("job %d: no such file", job)
		}
		return nil
	}

	workers := stint.NewGroup(context.Background(), stint.Limit(3), stint.KeepGoing())
	for job := range 5 {
		workers.Go(func(ctx context.Context) error { return process(ctx, job) })
	}
	fmt.Println(workers.Wait())
	// Output:
	// item 1: job 1: no such file
	// item 3: job 3: no such file
}

// Work that no request waits for, on the limit that the requests use, and behind them.
func ExampleNewPool_recipeBackground() {
	database := stint.Limit(4)
	background := stint.NewPool(database, stint.LowPriority(), stint.Queue(100),
		stint.OnPanic(func(p *stint.PanicError) { fmt.Println("panic:", p.Value) }))

	for _, job := range []string{"mail", "index"} {
		accepted := background.TryGo(func(ctx context.Context) {
			if job == "mail" {
				panic("no address") // the pool continues
			}
		})
		if !accepted {
			fmt.Println(job, "is refused: too much is queued")
		}
	}

	grace, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	dropped, err := background.Shutdown(grace) // at the end of the program
	fmt.Println(dropped, err)
	// Output:
	// panic: no address
	// 0 <nil>
}

// The first answer of several servers. The next server is asked when the one before it has
// failed, or has not answered for a while.
func ExampleHedgeAfter() {
	ask := func(ctx context.Context, server string) (string, error) {
		switch server {
		case "a":
			return "", errors.New("a is down")
		case "b":
			<-ctx.Done() // hangs, and is cancelled when c has answered
			return "", ctx.Err()
		}
		return "the answer of " + server, nil
	}
	servers := []string{"a", "b", "c"}
	answer, err := stint.First(context.Background(), servers, ask, stint.HedgeAfter(5*time.Millisecond))
	fmt.Println(answer, err)
	// Output: the answer of c <nil>
}

// A retry that holds a permit while it tries, and not while it waits.
func ExampleRange_recipeRetry() {
	server := stint.Limit(2)
	errBusy := errors.New("busy")
	retry := func(ctx context.Context, f func(context.Context) error) error {
		const tries = 4
		pause := time.Millisecond
		for try := 1; ; try++ {
			err := server.Do(ctx, f)
			if !errors.Is(err, errBusy) || try == tries {
				return err
			}
			select {
			case <-time.After(pause):
				pause *= 2 // add a random part if many clients do the same
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}

	files := []string{"a", "b", "c"}
	err := stint.Each(context.Background(), files, func(ctx context.Context, file string) error {
		tries := 0
		return retry(ctx, func(context.Context) error {
			if tries++; tries < 3 {
				return errBusy
			}
			return nil
		})
	}, stint.Limit(len(files))) // not server: a task keeps its permit while it waits
	fmt.Println(err)
	// Output: <nil>
}

// Each task has a time of its own. A task that takes longer fails, and the others go on.
func ExampleEach_recipeTimeout() {
	query := func(ctx context.Context, shard string) error {
		if shard == "us" {
			<-ctx.Done() // hangs
			return ctx.Err()
		}
		return nil
	}
	err := stint.Each(context.Background(), []string{"eu", "us", "asia"}, func(ctx context.Context, shard string) error {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		defer cancel()
		return query(ctx, shard)
	}, stint.KeepGoing())
	fmt.Println(err)
	// Output: item 1: context deadline exceeded
}

// No task starts until somebody continues: others wait, and may give up.
func ExampleLimiter_Set_recipePause() {
	server := stint.Limit(8)
	var sent atomic.Int32
	send := func(context.Context, int) error { sent.Add(1); return nil }

	server.Set(0) // pause
	ended := make(chan error)
	go func() { ended <- stint.Range(context.Background(), 100, send, server) }()

	soon, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	fmt.Println(stint.Range(soon, 100, send, server))
	fmt.Println(sent.Load(), "sent")

	server.Set(8) // resume
	fmt.Println(<-ended)
	fmt.Println(sent.Load(), "sent")
	// Output:
	// context deadline exceeded
	// 0 sent
	// <nil>
	// 100 sent
}

// Progress is what the loop over results prints. Its body runs on one goroutine.
func ExampleUnordered_recipeProgress() {
	files := []string{"a.jpg", "b.jpg", "c.jpg"}
	shrink := func(_ context.Context, file string) (string, error) { return "small/" + file, nil }
	done := 0
	for _, err := range stint.MapSeq(context.Background(), slices.Values(files), shrink, stint.Unordered()) {
		if err != nil {
			fmt.Println(err)
			break
		}
		done++
		fmt.Printf("%d of %d\n", done, len(files))
	}
	// Output:
	// 1 of 3
	// 2 of 3
	// 3 of 3
}

// Statistics as a metric: /debug/vars shows them, and so does every collector that reads it.
func ExamplePool_Stats_recipeMetrics() {
	mail := stint.NewPool(stint.Limit(8), stint.Name("mail"))
	defer mail.Close()
	expvar.Publish("stint.mail", expvar.Func(func() any { return mail.Stats() }))

	mail.Go(func(context.Context) {})
	mail.Idle(context.Background())
	s := expvar.Get("stint.mail").(expvar.Func).Value().(stint.PoolStats)
	fmt.Println(s.Name, s.Running, "of", s.Limit, "run,", s.Queued, "are queued,", s.Completed, "are done")
	// Output: mail 0 of 8 run, 0 are queued, 1 are done
}

// A result that needs the context of the call must be read in f.
func ExampleFirst_recipeBody() {
	open := func(ctx context.Context, server string) io.Reader {
		return readerFunc(func(p []byte) (int, error) { // fails when ctx ends, as the body of a response does
			if ctx.Err() != nil {
				return 0, context.Cause(ctx)
			}
			return copy(p, server), io.EOF
		})
	}
	servers := []string{"a"}
	late, _ := stint.First(context.Background(), servers, func(ctx context.Context, server string) (io.Reader, error) {
		return open(ctx, server), nil
	})
	_, err := io.ReadAll(late)
	fmt.Println("after First:", err)
	text, err := stint.First(context.Background(), servers, func(ctx context.Context, server string) ([]byte, error) {
		return io.ReadAll(open(ctx, server))
	})
	fmt.Printf("in f: %s %v\n", text, err)
	// Output:
	// after First: context canceled
	// in f: a <nil>
}

// A readerFunc is a Read.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
