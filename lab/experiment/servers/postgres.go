package servers

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// postgres is PostgreSQL.
func postgres() server {
	return server{
		name: "postgres", find: findPostgres, start: startPostgres, links: distances(), connect: connectPostgres,
		rows: []row{
			{name: "select", doc: "an op is a select by key, in PostgreSQL"},
			{name: "update", doc: "an op is an update by key, in PostgreSQL"},
			{name: "aggregate", doc: fmt.Sprintf("an op counts %d rows, in PostgreSQL", aggregated)},
			{name: "pg_sleep=5ms", doc: "an op is a select of pg_sleep(0.005), in PostgreSQL"},
		},
	}
}

// keys is the number of rows of the table.
const keys = 100_000

// findPostgres returns the path of the server, beside which initdb is.
func findPostgres() (string, error) {
	path, err := find("postgres", "/usr/lib/postgresql/*/bin", "/usr/local/pgsql/bin", "/opt/homebrew/opt/postgresql*/bin")
	if err != nil {
		return "", err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", err
	}
	_, err = find("initdb", filepath.Dir(path))
	return path, err
}

// startPostgres starts a server with a table, in a folder.
func startPostgres(ctx context.Context, home, path string) (running, error) {
	who, err := unprivileged("postgres", "nobody")
	if err != nil {
		return running{}, err
	}
	if err := who.own(home); err != nil {
		return running{}, err
	}
	data := filepath.Join(home, "data")
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(filepath.Dir(path), name), args...)
		cmd.Dir = home
		return cmd
	}
	if out, err := who.apart(command("initdb", "-D", data, "-U", "stint", "-A", "trust", "-E", "UTF8", "--no-locale")).CombinedOutput(); err != nil {
		return running{}, fmt.Errorf("initdb: %w: %s", err, tail(out))
	}
	address, port, err := freeAddress()
	if err != nil {
		return running{}, err
	}
	near := fmt.Sprintf("host=%s port=%s", home, port) // a socket in the folder
	p, err := launch(ctx, who, command("postgres", "-D", data, "-p", port, "-k", home, "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=300",
		"-c", "max_wal_size=4GB", "-c", "checkpoint_timeout=1h", "-c", "autovacuum=off", "-c", "max_parallel_workers_per_gather=0", "-c", "jit=off"),
		func(ctx context.Context) error { return fill(ctx, near) })
	if err != nil {
		return running{}, err
	}
	return running{near, address, p.stop}, nil
}

// fill makes the table, once the server is ready.
func fill(ctx context.Context, address string) error {
	c, err := pgx.Connect(ctx, address+settings)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	for _, q := range []string{
		"create table items (id int primary key, n int not null) with (fillfactor = 50)",
		fmt.Sprintf("insert into items select i, i from generate_series(0, %d) i", keys-1),
		"vacuum analyze items",
		"checkpoint",
	} {
		if _, err := c.Exec(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

const settings = " user=stint dbname=postgres sslmode=disable"

// connectPostgres opens all connections to a server, so that tasks do not wait for
// them. They prepare their statements while rows are sized.
func connectPostgres(ctx context.Context, address string) ([]task, func(), error) {
	if host, port, err := net.SplitHostPort(address); err == nil {
		address = fmt.Sprintf("host=%s port=%s", host, port)
	}
	c, err := pgxpool.ParseConfig(address + settings)
	if err != nil {
		return nil, nil, err
	}
	c.MaxConns, c.MaxConnIdleTime = maxLimit, time.Hour
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	var all []*pgxpool.Conn
	for range maxLimit {
		conn, e := pool.Acquire(ctx)
		if err = e; err != nil {
			break
		}
		all = append(all, conn)
	}
	for _, conn := range all {
		conn.Release()
	}
	if err != nil {
		pool.Close()
		return nil, nil, err
	}
	return tasksOn(pool), pool.Close, nil
}

// tasksOn returns the tasks, in the order of the rows.
func tasksOn(db *pgxpool.Pool) []task {
	one := func(ctx context.Context, want int, query string, args ...any) error {
		got := 0
		if err := db.QueryRow(ctx, query, args...).Scan(&got); err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%s: got %d, want %d", query, got, want)
		}
		return nil
	}
	return []task{
		func(ctx context.Context, i int) error {
			id := key(i)
			return one(ctx, id, "select id from items where id = $1", id)
		},
		func(ctx context.Context, i int) error {
			tag, err := db.Exec(ctx, "update items set n = n + 1 where id = $1", key(i))
			if err == nil && tag.RowsAffected() != 1 {
				err = fmt.Errorf("update: %d rows, want 1", tag.RowsAffected())
			}
			return err
		},
		func(ctx context.Context, i int) error {
			from := key(i) % (keys - aggregated)
			return one(ctx, aggregated, "select count(*) from items where id >= $1 and id < $2 and n >= 0", from, from+aggregated)
		},
		func(ctx context.Context, i int) error {
			return one(ctx, 1, "select 1 from pg_sleep(0.005)")
		},
	}
}

// aggregated rows take a few ms.
const aggregated = 20_000

// key returns the key of task i.
func key(i int) int { return int(uint32(i*2654435761) % keys) }
