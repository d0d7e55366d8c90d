package embedded

import (
	"bytes"
	"crypto/tls"
	"errors"
	"log/slog"
	"math"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// A record of what was logged.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// into is the option to log there.
func (l *logged) into() Option {
	return With(cluster.Log(slog.New(slog.NewTextHandler(l, nil))))
}

// until waits until n lines with text were logged.
func (l *logged) until(t *testing.T, n int, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		l.mu.Lock()
		all := l.text.String()
		l.mu.Unlock()
		if strings.Count(all, text) >= n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after a minute not %d times %q in the log:\n%s", n, text, all)
		}
	}
}

// watched runs a supervisor with its watch, and returns the error with which it closes its
// client.
func watched(t *testing.T, change func(*supervisor), opts ...Option) (*supervisor, <-chan error) {
	t.Helper()
	s, failed := run(t, opts...), make(chan error, 1)
	change(s)
	s.fail = func(err error) { failed <- err }
	s.watched.Go(s.watch)
	return s, failed
}

const brokenWrite = "Filestore [stint-tasks] Critical write error: input/output error"

// breaks makes the present server of h report an error.
func breaks(h *supervisor) {
	h.mu.Lock()
	j := h.logger
	h.mu.Unlock()
	j.Errorf("%s", brokenWrite)
}

// TestServerIsReplaced makes the server report errors. Each time a new server replaces it
// at the same address, with the stored messages, and clients inside and outside the process
// connect again.
func TestServerIsReplaced(t *testing.T) {
	t.Parallel()
	config, trust := certificate(t)
	var log logged
	h, _ := watched(t, func(*supervisor) {}, Dir(t.TempDir()), Listen(quiet, Token("a")), TLS(config), log.into())
	publish(t, h, jetstream.FileStorage, "here")
	js, lock := inside(t, h), filepath.Join(h.dir, "stint.lock")
	outside := &supervisor{url: h.url}
	for n := 1; n <= 2; n++ {
		breaks(h)
		log.until(t, n, "the server has failed: "+brokenWrite)
		log.until(t, n, "the server was restarted")
		if err := dial(t, outside, nats.Token("a"), nats.Secure(&tls.Config{RootCAs: trust})); err != nil {
			t.Error(err)
		}
		stream, err := js.Stream(t.Context(), "A")
		for ; err != nil; stream, err = js.Stream(t.Context(), "A") { // the connection is lost, and made again
			time.Sleep(time.Millisecond)
		}
		if msg, err := stream.GetMsg(t.Context(), 1); err != nil || string(msg.Data) != "here" {
			t.Errorf("GetMsg = %v, %v; want what was published before", msg, err)
		}
		if free, err := flock.New(lock).TryLock(); free || err != nil {
			t.Errorf("the lock is free: %v, %v", free, err)
		}
	}
}

// TestServerFailsEachTime wants the end, with the reason, of a host that was restarted
// too often, and of one in memory at once.
func TestServerFailsEachTime(t *testing.T) {
	for want, opts := range map[string][]Option{
		"restarted 6 times, and fails each time: " + brokenWrite: {Dir(t.TempDir()), Listen(quiet, nil)},
		"the server has failed: " + brokenWrite:                  {Memory(), Listen(quiet, nil)},
	} {
		h, failed := watched(t, func(h *supervisor) { h.restarts, h.replaced = maxRestarts, time.Now() }, opts...)
		breaks(h)
		if err := <-failed; !strings.HasSuffix(err.Error(), want) || !strings.HasPrefix(err.Error(), "embedded: ") {
			t.Errorf("failed with %v; want %q", err, want)
		}
		h.watched.Wait()
		if err := dial(t, h); err == nil {
			t.Error("the server is there still")
		}
		h.Close()
		nothingLeft(t)
	}
}

// TestDirThatIsRemoved wants that the client is closed with the reason.
func TestDirThatIsRemoved(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "queue")
	c := open(t, Dir(dir))
	if err := os.Rename(dir, dir+" elsewhere"); err != nil {
		t.Skipf("a directory in use cannot be taken away here: %v", err)
	}
	err := c.Wait(t.Context())
	if !errors.Is(err, stint.ErrClosed) || !errors.Is(err, errDirGone) {
		t.Errorf("Wait = %v; want that it is closed since its directory was removed", err)
	}
	if _, err := cluster.Map(t.Context(), c, half, []int{1}); !errors.Is(err, errDirGone) {
		t.Errorf("Map = %v; want the same reason", err)
	}
}

// TestDirThatCannotBeSeen wants that only a directory that is gone, or another one, ends the
// server at once: an error of the disk may pass.
func TestDirThatCannotBeSeen(t *testing.T) {
	h := run(t, Dir(filepath.Join(t.TempDir(), "queue")))
	if why, _ := h.check(); why != nil {
		t.Fatal(why)
	}
	away := h.dir + " elsewhere"
	if err := os.Rename(h.dir, away); err != nil {
		t.Skipf("a directory in use cannot be taken away here: %v", err)
	}
	if why, sure := h.check(); why != errDirGone || !sure {
		t.Errorf("a directory that is gone: %v, %v; want that it is, for sure", why, sure)
	}
	if err := os.Symlink(h.dir, h.dir); err != nil {
		t.Skip(err)
	}
	if why, sure := h.check(); why == nil || why == errDirGone || sure {
		t.Errorf("a directory that cannot be looked at: %v, %v; want its error, not for sure", why, sure)
	}
	if err := errors.Join(os.Remove(h.dir), os.MkdirAll(h.storeDir(), 0o700)); err != nil {
		t.Fatal(err)
	}
	if why, sure := h.check(); why != errDirGone || !sure {
		t.Errorf("another directory: %v, %v; want that it was replaced, for sure", why, sure)
	}
	if err := errors.Join(os.RemoveAll(h.dir), os.Rename(away, h.dir)); err != nil {
		t.Fatal(err)
	}
	if why, _ := h.check(); why != nil {
		t.Errorf("it is back: %v", why)
	}
}

// TestForeignStreamDirectory puts a directory among those of the streams that is none: the
// health of the server is bad, and it works.
func TestForeignStreamDirectory(t *testing.T) {
	h := run(t, Dir(t.TempDir()))
	publish(t, h, jetstream.FileStorage, "here")
	if err := os.Mkdir(filepath.Join(h.storeDir(), "$G", "streams", "junk"), 0o700); err != nil {
		t.Fatal(err)
	}
	if health := h.server.Healthz(&server.HealthzOptions{}); health.Error == "" {
		t.Error("the server does not mind; want that it does")
	}
	if why, _ := h.check(); why != nil {
		t.Errorf("the server is restarted: %v; want that it goes on", why)
	}
}

// TestJetStreamIsGone turns off what the server is for: nothing is reported as an error.
func TestJetStreamIsGone(t *testing.T) {
	t.Parallel()
	var log logged
	h, _ := watched(t, func(*supervisor) {}, Dir(t.TempDir()), log.into())
	publish(t, h, jetstream.FileStorage, "here")
	if err := h.server.ShutdownJetStream(); err != nil {
		t.Fatal(err)
	}
	log.until(t, 1, "the server was restarted")
}

// TestCloseWhileItIsReplaced closes a supervisor during a replacement.
func TestCloseWhileItIsReplaced(t *testing.T) {
	for i := range 8 {
		var log logged
		h, failed := watched(t, func(*supervisor) {}, Dir(t.TempDir()), log.into())
		breaks(h)
		breaks(h)
		log.until(t, 1, []string{brokenWrite, "has failed", "was restarted"}[i%3])
		if i >= 3 {
			breaks(h)
		}
		h.Close()
		select {
		case err := <-failed:
			t.Errorf("failed with %v", err)
		default:
		}
		nothingLeft(t)
	}
}

// TestReportsThatAreNoAlarm has reports of clients that contain the text of a failed write.
func TestReportsThatAreNoAlarm(t *testing.T) {
	for text, want := range map[string]bool{
		brokenWrite: true,
		"JetStream stream '$G > A' critical write error: no space left on device": true,
		"JetStream failed to store a msg on stream '$G > A': x":                   false, // says the other one too
		"127.0.0.1:1234 - cid:5 - \"Filestore [a] critical write error\" - x":     false,
	} {
		if got := isFailedWrite(text); got != want {
			t.Errorf("%q is an alarm: %v, want %v", text, got, want)
		}
	}
}

// TestSlowConsumerIsReported has a client that does not read what it has asked for.
func TestSlowConsumerIsReported(t *testing.T) {
	t.Parallel()
	var log logged
	h := run(t, Listen(quiet, nil), log.into())
	u, err := url.Parse(h.url)
	if err != nil {
		t.Fatal(err)
	}
	deaf, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	if _, err := deaf.Write([]byte("CONNECT {\"name\":\"sleeper\"}\r\nSUB a 1\r\nPING\r\n")); err != nil {
		t.Fatal(err)
	}
	nc := inside(t, h).Conn()
	for h.server.NumSubscriptions() == 0 || nc.Publish("a", nil) != nil {
		time.Sleep(time.Millisecond)
	}
	for range 100 {
		if err := nc.Publish("a", make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	log.until(t, 1, "level=WARN msg=\"embedded: 127.0.0.1:")
	log.until(t, 1, "sleeper")
	log.until(t, 1, "Slow Consumer Detected")
}

// TestMemoryShare compares what messages may take.
func TestMemoryShare(t *testing.T) {
	for _, c := range []struct{ limit, machine, want int64 }{
		{math.MaxInt64, 0, 0},
		{math.MaxInt64, 1000, 100},
		{500, 1000, 50},
		{2000, 1000, 100},
		{500, 0, 50},
	} {
		if got := memoryShare(c.limit, c.machine); got != c.want {
			t.Errorf("with a limit of %d on a machine with %d: %d, want %d", c.limit, c.machine, got, c.want)
		}
	}
}

// TestMemoryIsBounded wants that the server in memory refuses what is more than the share
// of GOMEMLIMIT, and that one in files does not.
func TestMemoryIsBounded(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(500 << 20))
	h := run(t)
	publish(t, h, jetstream.MemoryStorage, "first")
	js, stored := inside(t, h), 0
	var err error
	for err == nil {
		_, err = js.Publish(t.Context(), "a", make([]byte, 1<<20-100))
		stored++
	}
	if api, ok := errors.AsType[*jetstream.APIError](err); !ok || api.ErrorCode != 10023 {
		t.Errorf("Publish = %v; want insufficient resources", err)
	}
	if stored < 45 || stored > 55 {
		t.Errorf("%d MiB were stored; want some 50", stored)
	}
	if o := run(t, Dir(t.TempDir())).options(); o.JetStreamMaxMemory != 0 {
		t.Errorf("the server in files may have %d bytes in memory", o.JetStreamMaxMemory)
	}
}
