package tests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// bytesOf returns random bytes, the same for the same seed.
func bytesOf(seed, size int) []byte {
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(b)
	return b
}

// sendAll sends data in parts of random sizes up to most.
func sendAll(ctx context.Context, data []byte, most int) error {
	for len(data) > 0 {
		n := min(len(data), 1+rand.N(most))
		if err := cluster.SendPart(ctx, data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// newSender returns a task that sends Size bytes of the seed N and returns its call. An item that is to
// "fail at first" sends others and fails.
func newSender(most int, opts ...cluster.TaskOption) *cluster.Task[item, string] {
	opts = append([]cluster.TaskOption{cluster.Lease(lease), cluster.Retry(1, 0)}, opts...)
	return cluster.NewTask("send/v1", func(ctx context.Context, in item) (string, error) {
		info := cluster.TaskInfo(ctx)
		if in.Do == "fail at first" && info.Attempt == 1 {
			return "", errors.Join(sendAll(ctx, bytesOf(in.N+1, in.Size/2), most), errKnown)
		}
		return info.Call, sendAll(ctx, bytesOf(in.N, in.Size), most)
	}, opts...)
}

// A taker takes the parts of a run.
type taker struct {
	wait func() // with each part

	mu    sync.Mutex
	of    map[string][]byte // by call
	index map[string]int
}

func newTaker() *taker {
	return &taker{of: map[string][]byte{}, index: map[string]int{}, wait: func() {}}
}

func (k *taker) take(p cluster.Part) {
	k.wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.of[p.Call]) == 0 {
		k.index[p.Call] = p.Index
	} else if k.index[p.Call] != p.Index {
		panic("a call for two items")
	}
	k.of[p.Call] = append(k.of[p.Call], p.Data...)
}

// sends runs the items and fails the test unless all parts of each are there with its result.
func (k *taker) sends(t *testing.T, c *cluster.Client, task *cluster.Task[item, string], all []item, opts ...cluster.Option) {
	t.Helper()
	source := func(_ context.Context, emit func(item) bool) error {
		for _, in := range all {
			emit(in)
		}
		return nil
	}
	seen := map[int]bool{}
	for call, err := range cluster.MapFrom(bounded(t), c, task, source, append(opts, cluster.Parts(k.take))...) {
		if err != nil {
			t.Errorf("after %d results: %v", len(seen), err)
			continue
		}
		k.mu.Lock()
		i := k.index[call]
		if all[i].Size > 0 && !bytes.Equal(k.of[call], bytesOf(all[i].N, all[i].Size)) {
			t.Errorf("item %d: %d bytes, want %d, or others", i, len(k.of[call]), all[i].Size)
		}
		seen[i] = true
		delete(k.of, call)
		k.mu.Unlock()
	}
	for i, in := range all {
		if in.Size > 0 && !seen[i] {
			t.Errorf("item %d has no parts", i)
		}
	}
}

// The parts of the call that counts are there with its result, however large, and those of another
// call are not among them.
func TestParts(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]cluster.Option{
		"in order": nil, "unordered": {cluster.Unordered(), cluster.KeepGoing()}, "named": {cluster.Name("parts")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := newServer(t, func(o *server.Options) { o.MaxPayload = payload })
			client, task := connect(t, where), newSender(payload/2)
			for range 2 {
				serve(t, connect(t, where), 3, task)
			}
			all := items(30, item{})
			for i := range all {
				if all[i].Size = i * 10_000; i%3 == 1 {
					all[i].Do = "fail at first"
				}
			}
			newTaker().sends(t, client, task, all, opts...)
			look(t, where).nothingLeft(t)
		})
	}
}

// The server keeps at most 64 parts of a run while its submitter takes none.
func TestPartsWait(t *testing.T) {
	t.Parallel()
	where := newServer(t)
	client, counter, task := connect(t, where), look(t, where), newSender(1)
	serve(t, connect(t, where), 4, task)
	gate, parts, k := make(chan struct{}), 0, newTaker()
	k.wait = func() {
		<-gate
		if parts++; parts%20 == 0 {
			if n := counter.kept(t); n > 64+4 {
				t.Errorf("the server keeps %d parts and results", n)
			}
		}
	}
	go func() {
		defer close(gate)
		eventually(t, "64 parts wait", func() bool { return counter.kept(t) == 64 })
	}()
	k.sends(t, client, task, items(4, item{Size: 100}), cluster.Unordered())
	counter.nothingLeft(t)
}

// However a run ends, its functions can send no more, and nothing stays on the server.
func TestPartsEnd(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	for name, test := range map[string]struct {
		want error
		do   func(t *testing.T, where string, client *cluster.Client, cancel context.CancelCauseFunc)
	}{
		"context": {gone, func(_ *testing.T, _ string, _ *cluster.Client, cancel context.CancelCauseFunc) { cancel(gone) }},
		"closed":  {stint.ErrClosed, func(_ *testing.T, _ string, c *cluster.Client, _ context.CancelCauseFunc) { go c.Close() }},
		"cancelled elsewhere": {cluster.ErrRunLost, func(t *testing.T, where string, _ *cluster.Client, _ context.CancelCauseFunc) {
			other := connect(t, where)
			if err := other.Cancel(bounded(t), look(t, where).onlyRun(t, other)); err != nil {
				t.Error(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where, ended := newServer(t), make(chan error, 2)
			task := cluster.NewTask("send/v1", func(ctx context.Context, in item) (string, error) {
				for {
					if err := cluster.SendPart(ctx, make([]byte, 1000)); err != nil {
						ended <- err
						return "", err
					}
				}
			})
			serve(t, connect(t, where), 2, task)
			client := connect(t, where)
			ctx, cancel := context.WithCancelCause(bounded(t))
			defer cancel(nil)
			n := 0
			var last error
			parts := cluster.Parts(func(cluster.Part) {
				if n++; n == 100 {
					go test.do(t, where, client, cancel)
				}
			})
			for _, err := range cluster.MapFrom(ctx, client, task, func(_ context.Context, emit func(item) bool) error {
				if emit(item{}) {
					emit(item{})
				}
				return nil
			}, parts) {
				last = err
			}
			wrong(t, last, test.want)
			for range 2 {
				wrong(t, <-ended, cluster.ErrCanceled)
			}
			look(t, where).nothingLeft(t)
		})
	}
}

// A worker that leaves in the middle leaves parts behind. Those of the next worker are not among
// them.
func TestPartsOfAnotherWorker(t *testing.T) {
	t.Parallel()
	where := newServer(t)
	halfway := make(chan struct{})
	task := cluster.NewTask("send/v1", func(ctx context.Context, in item) (string, error) {
		info := cluster.TaskInfo(ctx)
		if info.Attempt == 1 {
			err := sendAll(ctx, bytesOf(in.N+1, in.Size/2), 1000)
			close(halfway)
			<-ctx.Done()
			return "", err
		}
		return info.Call, sendAll(ctx, bytesOf(in.N, in.Size), 1000)
	}, cluster.Lease(lease))
	first, next := connect(t, where), connect(t, where)
	first.Handle(task)
	left := make(chan error)
	go func() { left <- cluster.Serve(context.Background(), first) }()
	go func() {
		<-halfway
		first.Close()
		serve(t, next, 1, task)
	}()
	newTaker().sends(t, connect(t, where), task, items(1, item{Size: 20_000}))
	wrong(t, <-left, stint.ErrClosed)
	look(t, where).nothingLeft(t)
}

// Connections are cut, so that answers are lost: each part arrives once.
func TestPartsOverBadConnections(t *testing.T) {
	t.Parallel()
	where := newServer(t)
	soon := cluster.NATS(nats.ReconnectWait(20 * time.Millisecond))
	near, far, task := newProxy(t, where), newProxy(t, where), newSender(1000)
	serve(t, connect(t, near.url(), soon), 2, task)
	client := connect(t, far.url(), soon)
	k, n := newTaker(), 0
	k.wait = func() {
		if n++; n%50 == 0 {
			p := []*proxy{near, far}[n/50%2]
			p.set(true)
			p.set(false)
		}
	}
	k.sends(t, client, task, items(8, item{Size: 20_000}), cluster.Unordered())
	look(t, where).nothingLeft(t)
}

// A task fails if the server has lost one of its parts.
func TestPartIsLost(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	task := cluster.NewTask("send/v1", func(ctx context.Context, in item) (string, error) {
		for _, gate := range []string{"more", "end"} {
			if err := cluster.SendPart(ctx, []byte("a part")); err != nil {
				return "", err
			}
			j.opened(gate, ctx.Done())
		}
		return "", nil
	}, cluster.Lease(lease))
	serve(t, connect(t, where), 1, task)
	far, counter := newProxy(t, where), look(t, where)
	client := connect(t, far.url(), cluster.NATS(nats.ReconnectWait(20*time.Millisecond)))
	n := 0
	parts := cluster.Parts(func(cluster.Part) {
		if n++; n > 1 {
			return
		}
		go func() {
			eventually(t, "the first part is removed", func() bool { return counter.kept(t) == 0 })
			far.set(true)
			j.open(t, "more")
			eventually(t, "there is another part", func() bool { return counter.kept(t) == 1 })
			if err := counter.purge("stint-results", "stint.result.*.part.*"); err != nil {
				t.Error(err)
			}
			j.open(t, "end")
			far.set(false)
		}()
	})
	var last error
	for _, err := range cluster.MapSeq(bounded(t), client, task, func(yield func(item) bool) { yield(item{}) }, parts) {
		last = err
	}
	if last == nil || !strings.Contains(last.Error(), "lost a part") || n != 1 {
		t.Errorf("got %v after %d parts, want that one is lost", last, n)
	}
	counter.nothingLeft(t)
}

// SendPart refuses what it cannot send. A submitter that wants no parts gets none, and the result.
func TestPartsRefused(t *testing.T) {
	t.Parallel()
	if err := cluster.SendPart(t.Context(), nil); err == nil {
		t.Error("a part of no task is sent")
	}
	where := newServer(t)
	client := connect(t, where)
	task := cluster.NewTask("send/v1", func(ctx context.Context, in item) (string, error) {
		err := cluster.SendPart(ctx, make([]byte, client.MaxMessage()+1))
		return fmt.Sprint(errors.Is(err, cluster.ErrTooLarge)), sendAll(ctx, make([]byte, 80), 1)
	})
	serve(t, connect(t, where), 2, task)
	for _, opts := range [][]cluster.Option{nil, {cluster.Name("named")}} {
		if outs, err := cluster.Map(bounded(t), client, task, items(2, item{}), opts...); err != nil || outs[0] != "true" || outs[1] != "true" {
			t.Errorf("got %v, %v", outs, err)
		}
	}
	look(t, where).nothingLeft(t)
}
