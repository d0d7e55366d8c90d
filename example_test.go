package stint_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint"
)

// A parallel map on a limiter that finds its limit, and its first error.
func Example() {
	limit := stint.Auto(1, 100) // finds the limit between 1 and 100 by measuring throughput
	fetch := func(_ context.Context, id int) (string, error) {
		time.Sleep(time.Millisecond) // as a request does
		if id == 0 {
			return "", errors.New("no item 0")
		}
		return fmt.Sprint("item ", id), nil
	}
	items, err := stint.Map(context.Background(), []int{1, 2, 3}, fetch, limit)
	fmt.Println(items, err)
	_, err = stint.Map(context.Background(), []int{1, 2, 0}, fetch, limit)
	fmt.Println(err, limit.Current() > 1) // Current: the limit found so far
	// Output:
	// [item 1 item 2 item 3] <nil>
	// no item 0 true
}

func ExampleEach() {
	hosts := []string{"alpha", "beta", "gamma", "delta"}
	ping := func(_ context.Context, host string) error {
		if host == "gamma" {
			return fmt.Errorf("%s: no answer", host)
		}
		return nil
	}

	// At most two at once. The first error cancels the rest and is returned.
	err := stint.Each(context.Background(), hosts, ping, stint.Limit(2))
	fmt.Println(err)
	// Output: gamma: no answer
}

// What a task is given ends when another fails, and says why.
func ExampleEach_cancel() {
	offline := errors.New("the network is down")
	started := make(chan struct{})
	err := stint.Each(context.Background(), []string{"upload", "probe"}, func(ctx context.Context, job string) error {
		if job == "probe" {
			<-started
			return offline
		}
		close(started)
		<-ctx.Done() // pass ctx on, and what you call stops too
		fmt.Println(job, "stops:", context.Cause(ctx))
		return ctx.Err()
	}, stint.Limit(2))
	fmt.Println("returned:", err)
	// Output:
	// upload stops: the network is down
	// returned: the network is down
}

func ExampleRange() {
	a, b := []int{1, 2, 3, 4}, []int{10, 20, 30, 40}
	sum := make([]int, len(a))
	err := stint.Range(context.Background(), len(a), func(_ context.Context, i int) error {
		sum[i] = a[i] + b[i] // each index has one writer: no lock
		return nil
	})
	fmt.Println(sum, err)
	// Output: [11 22 33 44] <nil>
}

// The quickest mirror counts. The others are cancelled.
func ExampleFirst() {
	mirrors := map[string]time.Duration{"far": time.Hour, "near": time.Millisecond, "farther": 2 * time.Hour}
	fetch := func(ctx context.Context, name string) (string, error) {
		select {
		case <-time.After(mirrors[name]):
			return "the page, from " + name, nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
	fmt.Println(stint.First(context.Background(), []string{"far", "near", "farther"}, fetch))
	// Output: the page, from near <nil>
}

// Under Limit(1) the items are tried one after another, in order, until one succeeds.
func ExampleFirst_fallback() {
	sources := []string{"cache", "replica", "primary"}
	row, err := stint.First(context.Background(), sources, func(_ context.Context, source string) (string, error) {
		fmt.Println("asking the", source)
		if source == "cache" {
			return "", errors.New("not there")
		}
		return "row 7 of the " + source, nil
	}, stint.Limit(1))
	fmt.Println(row, err)
	// Output:
	// asking the cache
	// asking the replica
	// row 7 of the replica <nil>
}

func ExampleKeepGoing() {
	check := func(_ context.Context, port int) error {
		if port < 1024 {
			return fmt.Errorf("port %d needs privileges", port)
		}
		return nil
	}

	// Every port is tried. The errors come in the order of the ports.
	err := stint.Each(context.Background(), []int{8080, 80, 443, 9000}, check, stint.KeepGoing())
	fmt.Println(err)
	// Output:
	// item 1: port 80 needs privileges
	// item 2: port 443 needs privileges
}

// Find out which items failed, and run only these again.
func ExampleItemError() {
	shards := []string{"eu", "us", "asia"}
	busy := true
	backup := func(_ context.Context, shard string) error {
		if shard != "us" && busy {
			return errors.New("busy")
		}
		return nil
	}

	err := stint.Each(context.Background(), shards, backup, stint.KeepGoing())
	var again []string
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			if item, ok := errors.AsType[*stint.ItemError](err); ok {
				fmt.Println(shards[item.Index], item.Err)
				again = append(again, shards[item.Index])
			}
		}
	}

	busy = false
	err = stint.Each(context.Background(), again, backup, stint.KeepGoing())
	fmt.Println("again:", again, err)
	// Output:
	// eu busy
	// asia busy
	// again: [eu asia] <nil>
}

// Options given twice: the later one counts. So a function can have defaults
// that its caller overrides.
func ExampleOption() {
	upper := func(words []string, opts ...stint.Option) ([]string, error) {
		opts = append([]stint.Option{stint.Limit(4), stint.Name("upper")}, opts...)
		return stint.Map(context.Background(), words, func(_ context.Context, w string) (string, error) {
			return strings.ToUpper(w), nil
		}, opts...)
	}

	fmt.Println(upper([]string{"a", "b"}))
	fmt.Println(upper([]string{"c", "d"}, stint.Limit(1)))
	// Output:
	// [A B] <nil>
	// [C D] <nil>
}

// A task may call and wait on the limiter that it runs on, at any depth, if it
// passes its context on: the tasks it waits for run in its place.
func ExampleLimiter_nested() {
	below := map[string][]string{
		"/":    {"/etc", "/usr"},
		"/usr": {"/usr/bin", "/usr/lib"},
	}
	one := stint.Limit(1)

	var count func(ctx context.Context, dir string) (int, error)
	count = func(ctx context.Context, dir string) (int, error) {
		counts, err := stint.Map(ctx, below[dir], count, one) // ctx is that of the task
		n := 1
		for _, c := range counts {
			n += c
		}
		return n, err
	}
	fmt.Println(count(context.Background(), "/"))
	// Output: 5 <nil>
}

// Handlers of requests run on goroutines of the server. Do makes them wait for a permit.
func ExampleLimiter_Do() {
	backend := stint.Limit(2)
	handle := func(ctx context.Context, name string) (greeting string, err error) {
		err = backend.Do(ctx, func(context.Context) error {
			greeting = "hello " + name
			return nil
		})
		return greeting, err
	}
	fmt.Println(handle(context.Background(), "gopher"))

	late, cancel := context.WithCancel(context.Background())
	cancel() // the client has gone
	fmt.Println(handle(late, "nobody"))
	// Output:
	// hello gopher <nil>
	//  context canceled
}

// TryDo refuses what would have to wait.
func ExampleLimiter_TryDo() {
	ctx, backend := context.Background(), stint.Limit(1)
	backend.Do(ctx, func(context.Context) error {
		fmt.Println("first")
		err := backend.TryDo(ctx, func(context.Context) error { // not with the context of the permit
			fmt.Println("second")
			return nil
		})
		fmt.Println(err)
		return nil
	})
	// Output:
	// first
	// stint: busy
}

// Each server has a limit of its own, which is made when its name is first seen.
func ExampleNewLimiters() {
	servers := stint.NewLimiters(func(server string) *stint.Limiter { return stint.Auto(1, 20) })
	err := stint.Each(context.Background(), []string{"eu/1", "eu/2", "us/1"}, func(ctx context.Context, file string) error {
		server, _, _ := strings.Cut(file, "/")
		return servers.Do(ctx, server, func(context.Context) error {
			return nil // fetches the file from the server
		})
	}, stint.Limit(100)) // of its own: a task keeps its permit while it waits for a server
	fmt.Println(err, servers.Len(), "servers")
	// Output: <nil> 2 servers
}

// A limit may be changed while tasks run and wait.
func ExampleLimiter_Set() {
	limit := stint.Limit(1)
	g := stint.NewGroup(context.Background(), limit)
	hello := make(chan string)
	g.Go(func(context.Context) error { hello <- "hello"; return nil })
	g.Go(func(context.Context) error { fmt.Println(<-hello); return nil }) // one alone waits for the other

	limit.Set(2)
	fmt.Println(g.Wait(), limit.Current())
	// Output:
	// hello
	// <nil> 2
}

// Lines of a text, as they are read. It may be longer than memory.
func ExampleEachSeq() {
	log := "GET /a\nGET /b\nPOST /a\nGET /c\n"
	var posts atomic.Int32
	err := stint.EachSeq(context.Background(), strings.Lines(log), func(_ context.Context, line string) error {
		if strings.HasPrefix(line, "POST ") {
			posts.Add(1)
		}
		return nil
	}, stint.Limit(2))
	fmt.Println(posts.Load(), err)
	// Output: 1 <nil>
}

// The database takes four connections, and this program uses no more. Nobody waits
// inside database/sql.
func ExampleLimiter_connections() {
	db := sql.OpenDB(users{}) // or sql.Open, with a driver and an address
	defer db.Close()
	db.SetMaxOpenConns(4)
	connections := stint.Limit(4) // one, for all that uses db

	name := func(ctx context.Context, id int) (name string, err error) {
		err = db.QueryRowContext(ctx, "SELECT name FROM users WHERE id = ?", id).Scan(&name)
		return name, err
	}
	names, err := stint.Map(context.Background(), []int{1, 2, 3, 4, 5, 6}, name, connections)
	fmt.Println(names, err)
	fmt.Println(db.Stats().WaitCount, "waited for a connection")
	// Output:
	// [user 1 user 2 user 3 user 4 user 5 user 6] <nil>
	// 0 waited for a connection
}

// users is a database with one query, which answers with a row for any number.
type users struct{}

func (users) Connect(context.Context) (driver.Conn, error) { return users{}, nil }
func (users) Driver() driver.Driver                        { return users{} }
func (users) Open(string) (driver.Conn, error)             { return users{}, nil }
func (users) Prepare(string) (driver.Stmt, error)          { return users{}, nil }
func (users) Begin() (driver.Tx, error)                    { return nil, driver.ErrSkip }
func (users) Close() error                                 { return nil }
func (users) NumInput() int                                { return 1 }
func (users) Exec([]driver.Value) (driver.Result, error)   { return nil, driver.ErrSkip }
func (users) Query(args []driver.Value) (driver.Rows, error) {
	time.Sleep(time.Millisecond)
	return &row{id: args[0]}, nil
}

// row is the answer of users.
type row struct {
	id   any
	done bool
}

func (r *row) Columns() []string { return []string{"name"} }
func (r *row) Close() error      { return nil }
func (r *row) Next(values []driver.Value) error {
	if r.done {
		return io.EOF
	}
	r.done = true
	values[0] = fmt.Sprint("user ", r.id)
	return nil
}

// Limits that are made in place multiply. One that is shared is kept, whatever runs
// inside what.
func ExampleLimiter_multiply() {
	ctx := context.Background()
	var six sync.WaitGroup
	six.Add(6)
	err := stint.Range(ctx, 3, func(ctx context.Context, _ int) error {
		return stint.Range(ctx, 2, func(context.Context, int) error {
			six.Done()
			six.Wait() // all six are here
			return nil
		}, stint.Limit(2))
	}, stint.Limit(3))
	fmt.Println("six at once:", err)

	three := stint.Limit(3)
	permits := make(chan struct{}, 3)
	err = stint.Range(ctx, 3, func(ctx context.Context, _ int) error {
		return stint.Range(ctx, 2, func(context.Context, int) error {
			select {
			case permits <- struct{}{}:
				<-permits
				return nil
			default:
				return errors.New("a fourth")
			}
		}, three)
	}, three)
	fmt.Println("three at most:", err)
	// Output:
	// six at once: <nil>
	// three at most: <nil>
}

// Memory is the bound where each task holds much of it.
func ExampleLimit_memory() {
	const (
		image  = 4000 * 3000 * 4 // bytes of one that is decoded
		budget = 512 << 20       // bytes that all of them may take
	)
	limit := stint.Limit(max(1, budget/image))
	fmt.Println(limit.Current(), "images at once")
	// Output: 11 images at once
}

// What a search has found, and why. Set keeps it.
func ExampleLimiter_Stats() {
	server := stint.Auto(1, 64)
	ask := func(context.Context, int) error { time.Sleep(time.Millisecond); return nil }
	if err := stint.Range(context.Background(), 500, ask, server); err != nil {
		fmt.Println(err)
	}

	s := server.Stats() // s.Limit, s.Throughput, s.Phase, s.Reason
	for _, c := range s.History[:1] {
		fmt.Println(c.Reason) // c.Time, c.Limit, c.Throughput
	}
	server.Set(s.Limit)
	s = server.Stats()
	fmt.Println(s.Phase+":", s.Reason)
	// Output:
	// all permits are held: the limit rises as tasks finish
	// fixed: set by hand
}

// Calls that use the same server share a limit, and find it once for all of them.
func ExampleAuto() {
	server := stint.Auto(1, 100)
	fetch := func(_ context.Context, id int) (string, error) {
		time.Sleep(time.Millisecond)
		return fmt.Sprint("item ", id), nil
	}
	for range 2 {
		items, err := stint.Map(context.Background(), []int{1, 2, 3}, fetch, server)
		fmt.Println(items, err)
	}
	fmt.Println(server.Current() <= 100)
	// Output:
	// [item 1 item 2 item 3] <nil>
	// [item 1 item 2 item 3] <nil>
	// true
}

// Why the limit is what it is.
func ExampleLimitChange() {
	limit := stint.Auto(1, 100)
	limit.Set(20)
	for _, c := range limit.Stats().History {
		fmt.Println(c.Limit, c.Reason) // and c.Time, c.Throughput
	}
	// Output: 20 set by hand
}

// Bounds that change while the search goes on, as when a machine has less memory for a while.
func ExampleLimiter_SetBounds() {
	jobs := stint.Auto(20, 100)
	fmt.Println(jobs.Current())
	jobs.SetBounds(1, 4)
	fmt.Println(jobs.Current())
	jobs.SetBounds(0, 0) // pause
	fmt.Println(jobs.Current())
	jobs.SetBounds(20, 100)
	fmt.Println(jobs.Current())
	// Output:
	// 20
	// 4
	// 0
	// 20
}

// A server that can bear little: four tasks begin before anything is known, one of them
// or as many as there are processors at once, the others when the first have ended.
func ExampleBurst() {
	err := stint.Range(context.Background(), 10, func(context.Context, int) error {
		time.Sleep(time.Millisecond)
		return nil
	}, stint.Auto(1, 256, stint.Burst(4)))
	fmt.Println(err)
	// Output: <nil>
}

var errBusy = errors.New("429: too many requests")

// A server that says when it has too much to do.
func ExampleOverload() {
	busy := func(err error) bool { return errors.Is(err, errBusy) }
	slots := make(chan struct{}, 3)
	err := stint.Range(context.Background(), 10, func(context.Context, int) error {
		select {
		case slots <- struct{}{}:
			time.Sleep(time.Millisecond)
			<-slots
			return nil
		default:
			return errBusy
		}
	}, stint.Auto(1, 256, stint.Overload(busy)), stint.KeepGoing())
	fmt.Println(err == nil || errors.Is(err, errBusy))
	// Output: true
}

// Where a server must outlive a faulty task, a panic becomes an error at the one
// place that is meant to do this.
func ExamplePanicError_asError() {
	guarded := func(f func() error) (err error) {
		defer func() {
			v := recover()
			if p, ok := v.(*stint.PanicError); ok {
				err = p
			} else if v != nil {
				panic(v) // no task's
			}
		}()
		return f()
	}

	err := guarded(func() error {
		return stint.Each(context.Background(), []string{"a.png", "b.png"}, func(_ context.Context, name string) error {
			if name == "b.png" {
				panic(fmt.Errorf("decoding %s: %w", name, io.ErrUnexpectedEOF))
			}
			return nil
		})
	})
	if p, ok := errors.AsType[*stint.PanicError](err); ok { // p.Error() is for the log: it has the stack
		fmt.Println(p.Value)
		fmt.Println("cut short:", errors.Is(err, io.ErrUnexpectedEOF)) // by p.Unwrap
	}
	// Output:
	// decoding b.png: unexpected EOF
	// cut short: true
}

// A panic that comes after an error is raised still. The error is not lost.
func ExamplePanicError_also() {
	defer func() {
		p := recover().(*stint.PanicError)
		fmt.Println(p.Value)
		fmt.Println("and:", p.Also())
	}()
	writing := make(chan struct{})
	stint.Each(context.Background(), []string{"read", "write"}, func(ctx context.Context, job string) error {
		if job == "read" {
			<-writing
			return errors.New("no such file")
		}
		close(writing)
		<-ctx.Done() // the error has cancelled it
		panic("in the middle of a record")
	}, stint.Limit(2))
	// Output:
	// in the middle of a record
	// and: no such file
}

// Every way out of the function passes a Wait, so that nothing runs on and no panic
// stays unseen.
func ExampleGroup_Wait() {
	upload := func(names []string) error {
		ctx, cancel := context.WithCancel(context.Background())
		g := stint.NewGroup(ctx)
		defer g.Wait() // the second thing to be done
		defer cancel() // the first: the tasks should end
		for _, name := range names {
			if name == "" {
				return errors.New("a file without a name")
			}
			g.Go(func(ctx context.Context) error {
				<-ctx.Done() // or the end of the upload
				return context.Cause(ctx)
			})
		}
		return g.Wait()
	}
	fmt.Println(upload([]string{"a.png", ""}))
	// Output: a file without a name
}

// Messages of a customer are handled one after the other, and those of different customers
// concurrently.
func ExampleEachKey() {
	type payment struct {
		customer string
		amount   int
	}
	payments := slices.Values([]payment{{"ann", 5}, {"bob", 1}, {"ann", 7}, {"ann", 2}})
	balance := map[string]*int{"ann": new(int), "bob": new(int)}

	err := stint.EachKey(context.Background(), payments, func(p payment) string { return p.customer },
		func(_ context.Context, p payment) error {
			*balance[p.customer] += p.amount // no lock: nothing else handles a payment of the customer now
			return nil
		})
	fmt.Println(*balance["ann"], *balance["bob"], err)
	// Output: 14 1 <nil>
}

// A task that ends its goroutine fails. In a test, the test returns too.
func ExampleErrGoexit() {
	err := stint.EachSeq(context.Background(), slices.Values([]string{"a", "b"}), func(context.Context, string) error {
		runtime.Goexit() // as t.SkipNow does
		return nil
	})
	if errors.Is(err, stint.ErrGoexit) {
		fmt.Println("the task has said why")
		return
	}
	// Output: the task has said why
}
