// Package cluster measures tasks on workers of package cluster, beside a loop by hand with nats.go. Several processes
// share the CPUs of this machine and its loopback interface. A task doubles a number, which is sent as JSON; the server
// keeps its streams in memory, but for the one that is killed. An op is a batch.
package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cluster/embedded"
	"github.com/stint-go/stint/lab/bench"
	"github.com/stint-go/stint/lab/child"
)

func TestMain(m *testing.M) {
	child.Main(play)
	bench.Main(m)
}

const lease = 2 * time.Second // after which another worker gets the tasks of one that was killed

// BenchmarkEmpty runs tasks that do nothing. Server, worker and submitter are one process. The loop by hand, and
// cluster.Map beside it, need no password. With roles, worker and submitter have an account each.
func BenchmarkEmpty(b *testing.B) {
	for _, m := range []struct {
		name          string
		open          opener
		auth          embedded.Auth
		worker, login string // before the address
	}{
		{"model=nats.go", openLoop, nil, "", ""},
		{"model=cluster.Map", openStint, nil, "", ""},
		{"auth=token", openStint, embedded.Token("p"), "p@", "p@"},
		{"auth=roles", openStint, embedded.Users(embedded.User{Name: "w", Password: "p", Role: embedded.Worker},
			embedded.User{Name: "s", Password: "p", Role: embedded.Submitter}), "w:p@", "s:p@"},
	} {
		b.Run(m.name, func(b *testing.B) {
			server := bench.Must(embedded.Open(embedded.Listen("127.0.0.1:0", m.auth)))
			b.Cleanup(func() { server.Close() })
			at := func(login string) string { return strings.Replace(server.URL(), "//", "//"+login, 1) }
			w := m.open(b.Context(), at(m.worker), 0)
			b.Cleanup(w.close)
			go w.work(b.Context(), 64)
			bench.Run(b, nil, batch(b, m.open, at(m.login), bench.Short(5000, 100), nil))
		})
	}
}

// BenchmarkSleep runs 1,200 tasks of 10 ms on 3 worker processes of 4 slots: the ideal is a second. The server keeps its
// streams in memory or in files. When half of the results are there the server is killed, and another continues with its
// files; or also a worker, and another takes its place.
func BenchmarkSleep(b *testing.B) {
	for _, way := range []string{"store=memory", "store=files", "killed=server", "killed=server+worker"} {
		if testing.Short() && way != "killed=server" {
			continue // which would take seconds, or show nothing more
		}
		b.Run(way, func(b *testing.B) {
			n, dir := bench.Short(1200, 24), b.TempDir()
			server := start(b, role{Dir: dir, Memory: way == "store=memory"})
			work := role{Worker: true, URL: server.Said}
			worker := start(b, work)
			start(b, work)
			start(b, work)
			got := func(results int) {
				if results != n/2 || strings.HasPrefix(way, "store") {
					return
				}
				server.Kill()
				server = start(b, role{Dir: dir, URL: server.Said})
				if way != "killed=server" {
					worker.Kill()
					worker = start(b, work)
				}
			}
			bench.Process(b, batch(b, openStint, server.Said, n, got), func() error { return nil }) // the op checks its results
		})
	}
}

// A system is a connection to a server. Its run calls got with the number of results, unless got is nil, and returns
// them in order; work is a worker until ctx ends.
type system struct {
	run   func(ctx context.Context, items []int, got func(results int)) ([]int, error)
	work  func(ctx context.Context, slots int) error
	close func()
}

// An opener connects to a server. Tasks of its worker sleep.
type opener func(ctx context.Context, url string, sleep time.Duration) system

func double(sleep time.Duration) func(context.Context, int) (int, error) {
	return func(_ context.Context, n int) (int, error) { time.Sleep(sleep); return 2 * n, nil }
}

func openStint(ctx context.Context, url string, sleep time.Duration) system {
	c := bench.Must(cluster.Connect(ctx, url))
	t := cluster.NewTask("double/v1", double(sleep), cluster.Lease(lease))
	c.Handle(t)
	run := func(ctx context.Context, items []int, got func(int)) (out []int, err error) {
		if got == nil {
			return cluster.Map(ctx, c, t, items)
		}
		for v, err := range cluster.MapSeq(ctx, c, t, slices.Values(items), cluster.Unordered()) {
			if err != nil {
				return out, err
			}
			out = append(out, v)
			got(len(out))
		}
		slices.Sort(out)
		return out, nil
	}
	return system{run, func(ctx context.Context, slots int) error { return cluster.Serve(ctx, c, cluster.Limit(slots)) }, func() { c.Close() }}
}

// batch connects to a server and returns an op that runs n tasks, after some for all workers.
func batch(b *testing.B, open opener, url string, n int, got func(results int)) func() error {
	s := open(b.Context(), url, 0)
	b.Cleanup(s.close)
	items, want := make([]int, n), make([]int, n)
	for i := range items {
		items[i], want[i] = i, 2*i
	}
	bench.Must(s.run(b.Context(), items[:min(n, 100)], nil))
	return func() error {
		results, err := s.run(b.Context(), items, got)
		if err == nil && !slices.Equal(results, want) {
			err = fmt.Errorf("the results of %d tasks are wrong: %.100s", n, fmt.Sprint(results))
		}
		return err
	}
}

// A role is what a child process does: it is a worker with 4 slots, or a server.
type role struct {
	Worker bool
	URL    string // of the server
	Dir    string // of its files
	Memory bool   // it keeps everything in memory instead
}

func play(ctx context.Context, r role) error {
	if r.Worker {
		s := openStint(ctx, r.URL, 10*time.Millisecond)
		defer s.close()
		fmt.Println()
		return s.work(ctx, 4)
	}
	store := embedded.Dir(r.Dir)
	if r.Memory {
		store = embedded.Memory()
	}
	server := bench.Must(embedded.Open(store, embedded.Listen(cmp.Or(strings.TrimPrefix(r.URL, "nats://"), "127.0.0.1:0"), nil)))
	fmt.Println(server.URL())
	<-ctx.Done()
	return server.Close()
}

func start(b *testing.B, r role) *child.Process {
	p := bench.Must(child.Start(child.Again(r)))
	b.Cleanup(func() {
		if !r.Worker { // which would wait for a server that has ended before
			_ = p.End()
		}
		p.Kill()
	})
	return p
}
