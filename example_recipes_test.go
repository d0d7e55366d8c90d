package stint_test

import (
	"context"
	"errors"
	"expvar"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/stint-go/stint"
)

// The Examples of this file are the programs of docs/recipes.md.

// A handler that answers 503 at once when all permits are taken.
func ExampleGroup_TryGo_recipeAdmission() {
	backend := stint.Limit(1)
	arrived, finish := make(chan struct{}), make(chan struct{})
	slow := func(_ context.Context, w http.ResponseWriter) error {
		close(arrived)
		<-finish
		fmt.Fprint(w, "done")
		return nil
	}
	handler := func(w http.ResponseWriter, r *http.Request) {
		err := backend.TryDo(r.Context(), func(ctx context.Context) error { return slow(ctx, w) })
		switch {
		case errors.Is(err, stint.ErrBusy):
			w.Header().Set("Retry-After", "1")
			http.Error(w, "busy", http.StatusServiceUnavailable)
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}

	first, second := httptest.NewRecorder(), httptest.NewRecorder()
	var clients sync.WaitGroup
	clients.Go(func() { handler(first, httptest.NewRequest("GET", "/", nil)) })
	<-arrived
	handler(second, httptest.NewRequest("GET", "/", nil))
	close(finish)
	clients.Wait()
	fmt.Println(first.Code, first.Body)
	fmt.Println(second.Code, strings.TrimSpace(second.Body.String()))
	// Output:
	// 200 done
	// 503 busy
}

// A client that has a limit for each host. A call of one item is a permit for the caller.
func ExampleRange_recipePerHost() {
	var mu sync.Mutex
	limits := map[string]*stint.Limiter{}
	limitOf := func(host string) *stint.Limiter {
		mu.Lock()
		defer mu.Unlock()
		if limits[host] == nil {
			limits[host] = stint.Auto(1, 20) // it finds what the host can serve, and keeps it
		}
		return limits[host]
	}
	get := func(ctx context.Context, url string) (page string, err error) {
		host, path, _ := strings.Cut(url, "/")
		err = limitOf(host).Do(ctx, func(context.Context) error {
			page = path + " of " + host // from a request to the host
			return nil
		})
		return page, err
	}

	urls := []string{"a.example/x", "b.example/y", "a.example/z"}
	pages, err := stint.Map(context.Background(), urls, get, stint.Limit(len(urls)))
	fmt.Println(strings.Join(pages, ", "), err, len(limits))
	// Output: x of a.example, y of b.example, z of a.example <nil> 2
}

// A consumer that handles messages concurrently and commits their offsets in order. After an
// error it continues behind the last commit.
func ExampleMapSeq_recipeConsumer() {
	log := []string{"pay 5", "pay 7", "pay ?", "pay 3"}
	committed := 0
	consume := func(handle func(context.Context, string) (string, error)) error {
		messages := func(yield func(string) bool) {
			for _, m := range log[committed:] {
				if !yield(m) {
					return
				}
			}
		}
		for done, err := range stint.MapSeq(context.Background(), messages, handle, stint.Limit(2)) {
			if err != nil {
				return err // messages behind it may have been handled: handle must be idempotent
			}
			committed++
			fmt.Println(done, "is committed at", committed)
		}
		return nil
	}

	err := consume(func(_ context.Context, m string) (string, error) {
		if m == "pay ?" {
			return "", errors.New("no amount")
		}
		return m, nil
	})
	fmt.Println(err)
	err = consume(func(_ context.Context, m string) (string, error) { return m, nil })
	fmt.Println(err)
	// Output:
	// pay 5 is committed at 1
	// pay 7 is committed at 2
	// no amount
	// pay ? is committed at 3
	// pay 3 is committed at 4
	// <nil>
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
	abandoned, err := background.Shutdown(grace) // at the end of the program
	fmt.Println(abandoned, err)
	// Output:
	// panic: no address
	// 0 <nil>
}

// The first answer of several servers. The next server is asked when the one before it has
// failed, or has not answered for a while.
func ExampleFirst_recipeHedged() {
	answers := map[string]func(context.Context) (string, error){
		"a": func(context.Context) (string, error) { return "", errors.New("a is down") },
		"b": func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }, // hangs
		"c": func(context.Context) (string, error) { return "the answer of c", nil },
	}
	servers := []string{"a", "b", "c"}
	const patience = 5 * time.Millisecond

	failed := make(chan struct{}, len(servers))
	answer, err := stint.First(context.Background(), []int{0, 1, 2}, func(ctx context.Context, i int) (string, error) {
		if i > 0 {
			select {
			case <-time.After(time.Duration(i) * patience):
			case <-failed:
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		}
		answer, err := answers[servers[i]](ctx)
		if err != nil {
			failed <- struct{}{}
		}
		return answer, err
	})
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

// Progress is what the loop over results prints. Its body runs on one goroutine.
func ExampleUnordered_recipeProgress() {
	files := []string{"a.jpg", "b.jpg", "c.jpg"}
	shrink := func(_ context.Context, file int) (string, error) { return files[file], nil }
	indexes := func(yield func(int) bool) {
		for i := range files {
			if !yield(i) {
				return
			}
		}
	}

	done := 0
	for _, err := range stint.MapSeq(context.Background(), indexes, shrink, stint.Unordered()) {
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
