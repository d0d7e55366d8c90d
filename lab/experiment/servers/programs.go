package servers

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"
)

const (
	keys       = 100_000 // of all databases
	aggregated = 20_000  // rows that take a few ms, which also follow the last key
)

// key returns the key of task i.
func key(i int) int { return int(uint32(i*2654435761) % keys) }

// postgres is PostgreSQL with a table.
var postgres = program{
	name: "postgres", folders: []string{"/usr/lib/postgresql/*/bin", "/usr/local/pgsql/bin", "/opt/homebrew/opt/postgresql*/bin"},
	users: []string{"postgres", "nobody"},
	prepare: func(folder, home, _ string) ([]string, error) {
		return []string{filepath.Join(folder, "initdb"), "-D", filepath.Join(home, "data"),
			"-U", "stint", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"}, nil
	},
	args: func(home, port string) []string {
		return []string{"-D", filepath.Join(home, "data"), "-p", port, "-k", home,
			"-c", "listen_addresses=127.0.0.1", "-c", "max_connections=300", "-c", "max_wal_size=4GB",
			"-c", "checkpoint_timeout=1h", "-c", "autovacuum=off", "-c", "max_parallel_workers_per_gather=0", "-c", "jit=off"}
	},
	ready: func(ctx context.Context, address string) error {
		c, err := pgx.Connect(ctx, settings(address))
		if err != nil {
			return err
		}
		defer c.Close(ctx)
		for _, q := range []string{
			"create table items (id int primary key, n int not null) with (fillfactor = 50)",
			fmt.Sprintf("insert into items select i, i from generate_series(0, %d) i", keys+aggregated),
			"vacuum analyze items",
			"checkpoint",
		} {
			if _, err := c.Exec(ctx, q); err != nil {
				return err
			}
		}
		return nil
	},
}

// settings are those of a connection.
func settings(address string) string {
	host, port, _ := net.SplitHostPort(address)
	return fmt.Sprintf("host=%s port=%s user=stint dbname=postgres sslmode=disable", host, port)
}

// connectPostgres opens all connections to a server. They prepare their statements, which return
// the key, when they need them.
func connectPostgres(ctx context.Context, address string) ([]task, func(), error) {
	c, err := pgxpool.ParseConfig(settings(address))
	if err != nil {
		return nil, nil, err
	}
	c.MaxConns, c.MaxConnIdleTime = maxLimit, time.Hour
	db, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	var tasks []task
	for _, query := range []string{
		"select id from items where id = $1",
		"update items set n = n + 1 where id = $1 returning id",
		fmt.Sprintf("select $1::int + count(*) - %d from items where id >= $1::int and id < $1::int + %d and n >= 0", aggregated, aggregated),
		"select $1::int from pg_sleep(0.005)",
	} {
		tasks = append(tasks, func(ctx context.Context, i int) error {
			var got int
			if err := db.QueryRow(ctx, query, key(i)).Scan(&got); err != nil || got != key(i) {
				return fmt.Errorf("%s: got %d, %v, want %d", query, got, err, key(i))
			}
			return nil
		})
	}
	all := make([]*pgxpool.Conn, maxLimit)
	for i := range all {
		if all[i], err = db.Acquire(ctx); err != nil {
			break
		}
		defer all[i].Release()
	}
	return tasks, db.Close, err
}

// redisServer is Redis, which stores nothing.
var redisServer = program{
	name: "redis-server", folders: []string{"/usr/sbin", "/opt/homebrew/bin"},
	prepare: func(_, _, _ string) ([]string, error) { return nil, nil },
	args: func(_, port string) []string {
		return []string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"}
	},
	ready: func(ctx context.Context, address string) error {
		c := redis.NewClient(&redis.Options{Addr: address})
		defer c.Close()
		pairs := make([]any, 0, 2*keys)
		for i := range keys {
			pairs = append(pairs, strconv.Itoa(i), i)
		}
		return c.MSet(ctx, pairs...).Err()
	},
}

// connectRedis opens all connections to a server.
func connectRedis(ctx context.Context, address string) ([]task, func(), error) {
	c := redis.NewClient(&redis.Options{Addr: address, PoolSize: maxLimit, MinIdleConns: maxLimit})
	get := func(ctx context.Context, i int) error {
		got, err := c.Get(ctx, strconv.Itoa(key(i))).Int()
		if err == nil && got != key(i) {
			err = fmt.Errorf("key %d is %d", key(i), got)
		}
		return err
	}
	return []task{get}, func() { c.Close() }, open(ctx, maxLimit, get)
}

// open opens connections with concurrent tasks.
func open(ctx context.Context, connections int, t task) error {
	var g errgroup.Group
	for i := range connections {
		g.Go(func() error { return t(ctx, i) })
	}
	return g.Wait()
}

// nginx is nginx with a file.
var nginx = program{
	name: "nginx", folders: []string{"/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"}, users: []string{"nobody"},
	prepare: func(_, home, address string) ([]string, error) {
		if err := os.WriteFile(filepath.Join(home, "page"), page, 0o644); err != nil {
			return nil, err
		}
		return nil, os.WriteFile(filepath.Join(home, "nginx.conf"), fmt.Appendf(nil, nginxConfig, runtime.NumCPU(), address, home), 0o644)
	},
	args: func(home, _ string) []string { return []string{"-p", home + "/", "-c", "nginx.conf", "-e", "stderr"} },
	ready: func(ctx context.Context, address string) error {
		return newClient(address, 1).get(ctx, 0)
	},
}

const nginxConfig = `daemon off; worker_processes %d; pid nginx.pid; error_log stderr;
events { worker_connections 1024; }
http {
	access_log off; sendfile on; tcp_nodelay on; keepalive_requests 1000000000; keepalive_timeout 1h;
	client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
	server { listen %s; root %s; }
}
`
