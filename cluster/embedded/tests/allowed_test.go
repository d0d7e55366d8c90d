package tests

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stint-go/stint/cluster"
)

// Servers that allow less than others do, each in one way, take every kind of message up to the
// size that they allow.
func TestServerAllowsLess(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		allow func(*server.Options)
		opts  []cluster.ClientOption
	}{
		"everything":         {func(*server.Options) {}, nil},
		"message of 8 KiB":   {func(o *server.Options) { o.MaxPayload = 8 << 10 }, nil},
		"message of 64 KiB":  {func(o *server.Options) { o.MaxPayload = payload }, nil},
		"message of 2 MiB":   {func(o *server.Options) { o.MaxPayload = 2 << 20 }, nil},
		"five streams":       {account(t, "max_streams: 5"), nil},
		"sizes of streams":   {account(t, "max_bytes_required: true"), nil},
		"sizes in 4 MiB":     {account(t, "max_bytes_required: true, max_file: 4M"), nil},
		"sizes in memory":    {account(t, "max_bytes_required: true, max_mem: 4M, max_file: 0"), []cluster.ClientOption{cluster.Memory()}},
		"streams of 256 KiB": {account(t, "max_bytes_required: true, disk_max_stream_bytes: 256K"), nil},
		"a small disk":       {account(t, "max_bytes_required: true", func(o *server.Options) { o.JetStreamMaxStore = 100 << 20 }), nil},
		"a tiny disk":        {account(t, "max_bytes_required: true", func(o *server.Options) { o.JetStreamMaxStore = 4 << 20 }), nil},
		"a small memory":     {account(t, "max_bytes_required: true", func(o *server.Options) { o.JetStreamMaxMemory = 100 << 20 }), []cluster.ClientOption{cluster.Memory()}},
		"ten unacknowledged": {account(t, "max_ack_pending: 10"), nil},
		"ten of the server":  {func(o *server.Options) { o.JetStreamLimits.MaxAckPending = 10 }, nil},
		"batches of three":   {func(o *server.Options) { o.JetStreamLimits.MaxRequestBatch = 3 }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := newServer(t, c.allow)
			connected := func() *cluster.Client { return connect(t, where, c.opts...) }
			task := sizedTask()
			serve(t, connected(), 20, task)
			allowsAll(t, connected(), task)
			look(t, where).nothingLeft(t)
		})
	}
}

// sizedTask returns a task whose items and results are sent as they are. An item "N more" has a
// result that is N bytes too large.
func sizedTask() *cluster.Task[[]byte, []byte] {
	encode := func(v any) ([]byte, error) { return v.([]byte), nil }
	decode := func(data []byte, v any) error { *v.(*[]byte) = bytes.Clone(data); return nil }
	return cluster.NewTask("sized/v1", func(_ context.Context, in []byte) ([]byte, error) {
		switch string(in) {
		case "large":
			return make([]byte, 3<<20), nil
		case "fail":
			return nil, errors.New("failed" + strings.Repeat("\x01", 3<<20))
		}
		return in, nil
	}, cluster.Codec(encode, decode), cluster.Lease(lease))
}

// allowsAll submits every kind of item, and asks for the status.
func allowsAll(t *testing.T, client *cluster.Client, task *cluster.Task[[]byte, []byte]) {
	t.Helper()
	most := client.MaxMessage()
	all := [][]byte{make([]byte, most), make([]byte, most+1), []byte("large"), []byte("fail"), make([]byte, most/2)}
	for range 100 {
		all = append(all, []byte("small"))
	}
	for _, opts := range [][]cluster.Option{nil, {cluster.Limit(1000)}, {cluster.Name("named"), cluster.Limit(5)}, {cluster.WindowBytes(most)}} {
		outs, err := cluster.Map(bounded(t), client, task, all, append(opts, cluster.KeepGoing())...)
		errs := itemErrors(t, err)
		if len(errs) != 3 || errs[3] == nil || !strings.HasPrefix(errs[3].Error(), "failed") {
			t.Fatalf("errors of %d items: %.200v, want three", len(errs), err)
		}
		wrong(t, errs[1], cluster.ErrTooLarge)
		wrong(t, errs[2], cluster.ErrTooLarge)
		for i, out := range outs {
			if errs[i] == nil && !bytes.Equal(out, all[i]) {
				t.Errorf("result %d has %d bytes, want %d", i, len(out), len(all[i]))
			}
		}
	}
	if s, err := client.Status(bounded(t)); err != nil || s.Store != "" {
		t.Errorf("Status = %+v, %v; want that the server stores", s, err)
	}
}

// An account may have too few streams: the error says how many are needed.
func TestTooFewStreams(t *testing.T) {
	t.Parallel()
	_, err := cluster.Connect(bounded(t), newServer(t, account(t, "max_streams: 4")), cluster.FullTimeout(time.Millisecond))
	wrong(t, err, cluster.ErrFull)
	if want := "one of 5 that are needed"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}
