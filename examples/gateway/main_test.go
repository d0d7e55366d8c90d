package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// overload is twice the capacity, which is 400 requests per second.
var overload = trial{capacity: 20, service: 50 * time.Millisecond, rate: 800, waiting: 40, patience: time.Second, warmup: time.Second, length: 2 * time.Second}

// full is what the backend can serve at best of a trial's requests.
func (t trial) full() int {
	return int(float64(t.capacity) * float64(t.length) / float64(t.service))
}

// try runs a trial in a bubble.
func try(t *testing.T, tr trial, limit func() *stint.Limiter) (c *count) {
	synctest.Test(t, func(t *testing.T) {
		var err error
		c, err = tr.run(t.Context(), new(memory).network(), limit())
		if err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
	t.Logf("%d served of at most %d, %d refused, %d given up, p99 %v, %d at once", len(c.served), tr.full(), c.refused, c.lost, c.quantile(0.99), c.peak)
	return c
}

// Without a limit, all requests get in and none is served before its client has gone.
func TestNoLimit(t *testing.T) {
	tr := overload
	c := try(t, tr, func() *stint.Limiter { return nil })
	if len(c.served) != 0 || c.refused != 0 || c.lost < 7*tr.full()/4 || c.peak < 10*tr.capacity {
		t.Errorf("%d served, %d refused, %d given up, %d at once", len(c.served), c.refused, c.lost, c.peak)
	}
}

// With the best limit, the backend is full all the time, and a request waits for those
// before it only.
func TestLimit(t *testing.T) {
	tr := overload
	c := try(t, tr, func() *stint.Limiter { return stint.Limit(tr.capacity) })
	if len(c.served) < tr.full()*99/100 || c.lost != 0 || c.peak != tr.capacity {
		t.Errorf("%d served of %d, %d given up, %d at once", len(c.served), tr.full(), c.lost, c.peak)
	}
	// 40 wait, which is two rounds of 20.
	if longest := c.quantile(1); longest > 3*tr.service {
		t.Errorf("a request took %v, want at most %v", longest, 3*tr.service)
	}
}

// An adaptive limit serves almost as many, once it has found the limit.
func TestAuto(t *testing.T) {
	if testing.Short() {
		t.Skip("12,000 requests")
	}
	tr := overload
	tr.warmup, tr.length = 5*time.Second, 10*time.Second
	c := try(t, tr, func() *stint.Limiter { return stint.Auto(1, 256) })
	if len(c.served) < tr.full()*9/10 || c.lost != 0 {
		t.Errorf("%d served of %d, %d given up", len(c.served), tr.full(), c.lost)
	}
	// A probe lets in up to four times the capacity, so that a request takes four times as long, and
	// one that waits for these up to seven times. It is seldom one in a hundred: one run in thirty.
	if p99 := c.quantile(0.99); p99 > 7*tr.service {
		t.Errorf("p99 is %v, want at most %v", p99, 7*tr.service)
	}
}

// A limit costs nothing below the capacity.
func TestEnoughForAll(t *testing.T) {
	tr := overload
	tr.rate = 100
	for _, limit := range []func() *stint.Limiter{
		func() *stint.Limiter { return nil },
		func() *stint.Limiter { return stint.Limit(20) },
		func() *stint.Limiter { return stint.Auto(1, 256) },
	} {
		c := try(t, tr, limit)
		if c.lost != 0 || c.refused != 0 || c.quantile(0.5) != tr.service {
			t.Errorf("%d given up, %d refused, half took %v", c.lost, c.refused, c.quantile(0.5))
		}
	}
}

// An interrupt ends the trial.
func TestInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("interrupted")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(gone) })
		began := time.Now()
		_, err := overload.run(ctx, new(memory).network(), stint.Limit(20))
		if took := time.Since(began); !errors.Is(err, gone) || took != time.Second {
			t.Errorf("%v after %v, want %v after a second", err, took, gone)
		}
	})
}

// The program runs over loopback, and prints a line for each gateway.
func TestProgram(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if err := run(t.Context(), []string{"-warmup", "0s", "-for", "100ms", "-rate", "100"}, &stdout, &stderr); err != nil {
		t.Error(err)
	}
	lines := strings.Split(stdout.String(), "\n")
	for i, want := range []string{"served/s", "no limit", "Limit(20)", "Auto(1, 256)", ""} {
		if len(lines) != 5 || !strings.Contains(lines[i], want) {
			t.Fatalf("printed\n%s\nwant %q in line %d of 4", &stdout, want, i+1)
		}
	}
	if stderr.Len() > 0 {
		t.Errorf("complained %q", &stderr)
	}
}

func TestCommandLine(t *testing.T) {
	for _, test := range []struct {
		args   []string
		err    error
		stderr string // prefix
	}{
		{[]string{"-help"}, nil, "Usage of gateway"},
		{[]string{"-rate", "0"}, errUsage, "want a rate of 1 or more"},
		{[]string{"-waiting", "-1"}, errUsage, "want a rate of 1 or more, 0 or more that wait"},
		{[]string{"-for", "0s"}, errUsage, "want"},
		{[]string{"-fast"}, errUsage, "flag provided but not defined: -fast"},
		{[]string{"a"}, errUsage, "want"},
	} {
		var stdout, stderr bytes.Buffer
		err := run(t.Context(), test.args, &stdout, &stderr)
		if !errors.Is(err, test.err) || !strings.HasPrefix(stderr.String(), test.stderr) || stdout.Len() > 0 {
			t.Errorf("%q: error %v, want %v; printed %q; complained %q, want %q", test.args, err, test.err, &stdout, &stderr, test.stderr)
		}
	}
}

// A memory is a network without sockets, for bubbles.
type memory struct {
	mu        sync.Mutex
	listeners map[string]*listener
}

func (m *memory) network() network { return network{m.listen, m.dial} }

func (m *memory) listen() (net.Listener, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := &listener{name: string(rune('a'+len(m.listeners))) + ":80", dialed: make(chan net.Conn), closed: make(chan struct{})}
	if m.listeners == nil {
		m.listeners = map[string]*listener{}
	}
	m.listeners[l.name] = l
	return l, nil
}

func (m *memory) dial(ctx context.Context, _, address string) (net.Conn, error) {
	m.mu.Lock()
	l := m.listeners[address]
	m.mu.Unlock()
	here, there := net.Pipe()
	select {
	case l.dialed <- there:
		return here, nil
	case <-l.closed:
		return nil, errors.New("closed")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A listener accepts what is dialed.
type listener struct {
	name   string
	dialed chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.dialed:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr  { return l }
func (l *listener) Network() string { return "memory" }
func (l *listener) String() string  { return l.name }
