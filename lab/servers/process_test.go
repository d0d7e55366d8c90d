package servers

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stint-go/stint/lab/bench"
	"github.com/stint-go/stint/lab/child"
)

// The servers. Each is a process of its own.
const (
	web      = "web" // a child of this program
	postgres = "PostgreSQL"
)

// running are the addresses of the servers.
var running = map[string]string{}

// start starts a server unless it runs, and returns its address. It ends when all does, and at the latest with this
// process.
func start(server string, b, all *testing.B) string {
	if address, ok := running[server]; ok {
		return address
	}
	cmd := child.Again(server)
	if server == postgres {
		cmd = exec.Command("sh", "-c", keepPostgres)
	}
	p, err := child.Start(cmd)
	if e := (*exec.ExitError)(nil); errors.Is(err, exec.ErrNotFound) || errors.As(err, &e) && e.ExitCode() == 127 {
		b.Skip("PostgreSQL is not installed")
	}
	running[server] = bench.Must(p, err).Said
	all.Cleanup(func() {
		delete(running, server)
		if err := p.End(); err != nil {
			all.Error(err)
		}
	})
	return p.Said
}

// play is a web server until ctx ends. It prints its address.
func play(ctx context.Context, _ string) error {
	l := bench.Must(net.Listen("tcp", "127.0.0.1:0"))
	fmt.Println(l.Addr())
	go http.Serve(l, http.HandlerFunc(pages))
	<-ctx.Done()
	return nil
}

// page is what web servers answer.
var page = bytes.Repeat([]byte("0123456789abcdef"), 64)

func pages(w http.ResponseWriter, _ *http.Request) { w.Write(page) }

// errBusy is the error of a request that was refused.
var errBusy = errors.New("refused by the server")

// getter returns a function that gets the page from an address, and keeps some connections open until b ends.
func getter(b *testing.B, address string, connections int, l link) func(context.Context) error {
	c := &http.Client{Transport: &http.Transport{DialContext: l.dial, MaxIdleConnsPerHost: connections, DisableCompression: true}}
	b.Cleanup(c.CloseIdleConnections)
	return func(ctx context.Context) error {
		resp, err := c.Do(bench.Must(http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address, nil)))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		got, err := io.ReadAll(resp.Body)
		switch {
		case resp.StatusCode == http.StatusServiceUnavailable:
			return errBusy
		case err == nil && (resp.StatusCode != http.StatusOK || !bytes.Equal(got, page)):
			return fmt.Errorf("status %s, %d bytes", resp.Status, len(got))
		}
		return err
	}
}

// openWeb returns a task that gets a page of 1 KiB.
func openWeb(b *testing.B, address string, l link) task {
	get := getter(b, address, 2*most, l)
	return func(int) error { return get(context.Background()) }
}

// openFiles returns a task that writes a new file of 4 KiB to the disk, and removes it.
func openFiles(b *testing.B, _ string, _ link) task {
	dir, block := b.TempDir(), make([]byte, 4<<10)
	return func(i int) error {
		f := bench.Must(os.Create(filepath.Join(dir, strconv.Itoa(i))))
		_, err := f.Write(block)
		return cmp.Or(err, f.Sync(), f.Close(), os.Remove(f.Name()))
	}
}

// keepPostgres runs PostgreSQL with a table in a folder of its own, until its input ends, also after an interrupt. Root is
// not allowed to.
const keepPostgres = `set -e
trap '' INT
PATH=$PATH:$(echo /usr/lib/postgresql/*/bin /usr/local/pgsql/bin /opt/homebrew/opt/postgresql*/bin | tr ' ' :)
command -v initdb psql >/dev/null || exit 127
home=$(mktemp -d ${TMPDIR:-/tmp}/stint-lab-XXXXXX)
port=$((20000 + $$ % 10000))
if [ $(id -u) = 0 ]; then
	chown postgres $home
	as="setpriv --reuid=postgres --regid=postgres --init-groups"
fi
cd $home
export PGDATA=$home/data PGHOST=$home PGUSER=stint PGDATABASE=postgres
trap 'set +e; $as pg_ctl -m fast stop >/dev/null 2>&1; cd /; rm -r $home' EXIT
$as initdb -U stint -A trust -E UTF8 --no-locale --no-sync >&2
$as pg_ctl -l log -o "-p $port -k $home -c listen_addresses=127.0.0.1 -c max_connections=300 -c max_wal_size=4GB \
	-c checkpoint_timeout=1h -c autovacuum=off -c max_parallel_workers_per_gather=0 -c jit=off" start >&2
psql -p $port >&2 <<END
create table items (id int primary key, n int not null) with (fillfactor = 50);
insert into items select i, i from generate_series(0, 120000) i;
vacuum analyze items;
checkpoint;
END
echo 127.0.0.1:$port
cat >/dev/null`

// Queries return their key.
const (
	selects = "select id from items where id = $1"
	updates = "update items set n = n + 1 where id = $1 returning id"
	counts  = "select $1::int + count(*) - 20000 from items where id >= $1::int and id < $1::int + 20000 and n >= 0"
)

// openPostgres returns a task that makes a query for one of 100,000 keys.
func openPostgres(query string) func(*testing.B, string, link) task {
	return func(b *testing.B, address string, l link) task {
		config := bench.Must(pgxpool.ParseConfig(fmt.Sprintf(
			"postgres://stint@%s/postgres?sslmode=disable&pool_max_conns=%d&pool_max_conn_idle_time=1h", address, most)))
		config.ConnConfig.DialFunc = l.dial
		db := bench.Must(pgxpool.NewWithConfig(context.Background(), config))
		b.Cleanup(db.Close)
		return func(i int) error {
			got, key := 0, int(uint32(i)*2654435761%100_000)
			if err := db.QueryRow(context.Background(), query, key).Scan(&got); err != nil || got != key {
				return fmt.Errorf("%s: got %d, %v, want %d", query, got, err, key)
			}
			return nil
		}
	}
}
