//go:build unix

package embedded

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint/cluster"
)

// alone runs a test in a process of its own, and reports whether this is that process.
func alone(t *testing.T) bool {
	t.Helper()
	const variable = "STINT_EMBEDDED_ALONE"
	if os.Getenv(variable) != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.v", "-test.timeout=5m", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), variable+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	} else {
		t.Logf("%s", out)
	}
	return false
}

// full makes writes to the files of this process fail, as when the disk is full, until
// room is called.
func full(t *testing.T) (room func()) {
	t.Helper()
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	none := old
	none.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &none); err != nil {
		t.Fatal(err)
	}
	room = func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Error(err)
		}
		signal.Stop(ignored)
	}
	t.Cleanup(room)
	return room
}

// TestFullDisk fills the disk while a run goes on, and makes room again: the run ends as
// if nothing had been, in this process and from outside, and what was confirmed is there.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if !alone(t) {
		return
	}
	var log logged
	c := open(t, Dir(t.TempDir()), Listen(quiet, nil), log.into())
	there, err := cluster.Connect(t.Context(), c.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	there.Handle(half)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- cluster.Serve(ctx, there, cluster.Limit(4)) }()

	confirmed := flood(t, c.URL())
	if _, err := cluster.Map(t.Context(), c, half, []int{1}); err != nil { // what starts on a full disk fails
		t.Fatal(err)
	}
	in, want := make([]int, 200), make([]int, 200)
	for i := range in {
		in[i], want[i] = 2*i, i
	}
	ended := make(chan error)
	go func() {
		out, err := cluster.Map(t.Context(), c, half, in)
		if !slices.Equal(out, want) {
			t.Errorf("Map = %v", out)
		}
		ended <- err
	}()
	room := full(t)
	log.until(t, 1, "the server has failed")
	room()
	if err := <-ended; err != nil {
		t.Errorf("Map: %v", err)
	}
	log.until(t, 1, "the server was restarted")
	confirmed()
	stop()
	if err := <-served; err != nil {
		t.Errorf("Serve = %v", err)
	}
}

// flood publishes to a stream until confirmed is called, which fails the test if something
// that the server has confirmed is not there.
func flood(t *testing.T, where string) (confirmed func()) {
	t.Helper()
	nc, err := nats.Connect(where, nats.MaxReconnects(-1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "A", Subjects: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	acknowledged := make(chan map[uint64]string, 1)
	go func() {
		all := map[uint64]string{}
		for ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond) // or there are too many to look at
			text := nats.NewInbox()
			if ack, err := js.Publish(ctx, "a", []byte(text)); err == nil {
				all[ack.Sequence] = text
			}
		}
		acknowledged <- all
	}()
	return func() {
		stop()
		all := <-acknowledged
		t.Logf("%d messages were confirmed", len(all))
		for seq, text := range all {
			if m, err := stream.GetMsg(t.Context(), seq); err != nil || string(m.Data) != text {
				t.Errorf("message %d is %v, %v; want %q", seq, m, err, text)
			}
		}
	}
}

// TestCloseWhileTheDiskIsFull closes the client then.
func TestCloseWhileTheDiskIsFull(t *testing.T) {
	t.Parallel()
	var log logged
	if !alone(t) {
		return
	}
	c := open(t, Dir(t.TempDir()), Listen(quiet, nil), log.into())
	flood(t, c.URL())
	room := full(t)
	log.until(t, 1, "the server has failed")
	if err := c.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	room()
	if nc, err := nats.Connect(c.URL()); err == nil {
		nc.Close()
		t.Error("the server is there still")
	}
}
