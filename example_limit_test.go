package stint_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/stint-go/stint"
)

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
	places := make(chan struct{}, 3)
	err = stint.Range(ctx, 3, func(ctx context.Context, _ int) error {
		return stint.Range(ctx, 2, func(context.Context, int) error {
			select {
			case places <- struct{}{}:
				<-places
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
	// all places are taken: more may begin as tasks end
	// fixed: set by hand
}
