//go:build unix

package jobserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// tokens differ, as those of a make may.
const tokens = "+-x"

// offers are jobservers with tokens, as a make makes them, and what is in them.
var offers = map[string]func(t *testing.T) (how string, drain func() string){
	"fifo": func(t *testing.T) (string, func() string) {
		path := filepath.Join(t.TempDir(), "fifo")
		if err := makeFIFO(path); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		return "fifo:" + path, offer(t, f, f)
	},
	"pipe": func(t *testing.T) (string, func() string) {
		var fds [2]int
		if err := unix.Pipe(fds[:]); err != nil { // they are passed on, and block
			t.Fatal(err)
		}
		if runtime.GOOS != "linux" {
			if err := unix.SetNonblock(fds[0], true); err != nil {
				t.Fatal(err)
			}
		}
		drain := offer(t, os.NewFile(uintptr(fds[0]), "r"), os.NewFile(uintptr(fds[1]), "w"))
		return fmt.Sprintf("%d,%d", fds[0], fds[1]), func() string {
			flags, err := unix.FcntlInt(uintptr(fds[0]), unix.F_GETFL, 0)
			if err != nil || runtime.GOOS == "linux" && flags&unix.O_NONBLOCK != 0 {
				t.Errorf("flags %#x, %v: others cannot wait any more", flags, err)
			}
			return drain()
		}
	},
}

// offer writes the tokens.
func offer(t *testing.T, r, w *os.File) (drain func() string) {
	t.Cleanup(func() {
		r.Close()
		w.Close()
	})
	if _, err := w.WriteString(tokens); err != nil {
		t.Fatal(err)
	}
	return func() string {
		b := make([]byte, 100)
		n, err := r.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(b[:n])
		return string(b[:n])
	}
}

func sorted(s string) string {
	b := []byte(s)
	slices.Sort(b)
	return string(b)
}

func open(t *testing.T, how string) *Pool {
	t.Helper()
	p, err := Open(" -j3 --jobserver-auth=" + how)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTakeEnds gives up waits: none takes a token, and the pipe still blocks for others.
func TestTakeEnds(t *testing.T) {
	for style, offered := range offers {
		t.Run(style, func(t *testing.T) {
			how, drain := offered(t)
			p := open(t, how)
			defer p.Close()
			var taken []byte
			for range len(tokens) {
				b, err := p.Take(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				taken = append(taken, b)
			}
			over := errors.New("over")
			for range 100 {
				ctx, cancel := context.WithCancelCause(t.Context())
				go cancel(over)
				if _, err := p.Take(ctx); err != over {
					t.Fatal(err)
				}
			}
			if err := p.Put(taken...); err != nil {
				t.Fatal(err)
			}
			if got := drain(); got != sorted(tokens) {
				t.Errorf("%q left of %q", got, tokens)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("+++"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for makeflags, want := range map[string]error{
		"":                              ErrNone,
		" -j3 --jobserver-auth=-2,-2":   ErrClosed,
		" --jobserver-auth=997,998":     ErrClosed,
		" --jobserver-auth=gmake_sem_1": ErrSystem,
		fmt.Sprintf(" --jobserver-auth=%d,%d", f.Fd(), f.Fd()): ErrClosed,
		" --jobserver-auth=fifo:" + file:                       nil,
		" --jobserver-auth=fifo:" + file + ".none":             os.ErrNotExist,
	} {
		if p, err := Open(makeflags); p != nil || err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%q: %v, %v", makeflags, p, err)
		}
	}
}

// newClient returns a Client whose Keeper is in this process.
func newClient(t *testing.T, how string) *Client {
	grants, grant, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { grants.Close() })
	k := NewKeeper(open(t, how), grant)
	messages := make(chan int, 1000)
	go func() {
		for m := range messages {
			k.Tell(m)
			if m == End {
				return
			}
		}
	}()
	return NewClient("", func(m int) { messages <- m }, grants, func(text string) { t.Error(text) })
}

// A crowd counts how many run. Nobody leaves before all that may run have run at once.
type crowd struct {
	all       int64
	full      chan struct{}
	fill      sync.Once
	now, most atomic.Int64
}

func (c *crowd) run() {
	now := c.now.Add(1)
	for most := c.most.Load(); now > most && !c.most.CompareAndSwap(most, now); most = c.most.Load() {
	}
	if now >= c.all {
		c.fill.Do(func() { close(c.full) })
	}
	<-c.full
	time.Sleep(time.Duration(rand.IntN(int(time.Millisecond))))
	c.now.Add(-1)
}

// TestClients has two programs share tokens. Some of their jobs are given up before they start.
func TestClients(t *testing.T) {
	for style, offered := range offers {
		t.Run(style, func(t *testing.T) {
			how, drain := offered(t)
			var jobs sync.WaitGroup
			running := crowd{all: int64(len(tokens) + 2), full: make(chan struct{})}
			clients := []*Client{newClient(t, how), newClient(t, how)}
			for i := range 400 {
				c := clients[i%len(clients)]
				jobs.Go(func() {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					if i%5 == 0 {
						go cancel()
					}
					j := NewJob()
					defer c.End(j)
					for range 1 + i%3 {
						if c.Acquire(ctx, j) != nil {
							return
						}
						running.run()
						c.Release(j)
					}
				})
			}
			jobs.Wait()
			for _, c := range clients {
				c.Close()
			}
			if most := running.most.Load(); most != running.all {
				t.Errorf("%d ran at once", most)
			}
			if got := drain(); got != sorted(tokens) {
				t.Errorf("%q left of %q", got, tokens)
			}
		})
	}
}

// TestFirstJobGoesOn has other programs and another job take all tokens while the first job does not run.
func TestFirstJobGoesOn(t *testing.T) {
	how, _ := offers["fifo"](t)
	server, _, _ := newServer(t, "fifo", int64(1+len(tokens)))
	client := newClient(t, how)
	defer client.Close()
	for name, share := range map[string]interface {
		Acquire(context.Context, *Job) error
		Release(*Job)
		End(*Job)
	}{"client": client, "server": server} {
		t.Run(name, func(t *testing.T) {
			p := open(t, how)
			if name == "server" {
				p = server.spare
			}
			first, second, third := NewJob(), NewJob(), NewJob()
			acquire := func(j *Job) {
				t.Helper()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if err := share.Acquire(ctx, j); err != nil {
					t.Fatal(err)
				}
			}
			acquire(first)
			share.Release(first)
			acquire(second)
			acquire(third)
			share.Release(second)
			for range len(tokens) - 1 {
				if _, err := p.Take(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			next := make(chan error)
			go func() { next <- share.Acquire(t.Context(), second) }()
			select {
			case <-next:
				t.Fatal("the second job runs")
			case <-time.After(10 * time.Millisecond):
			}
			acquire(first)
			share.Release(first)
			share.End(first)
			if err := <-next; err != nil { // it is the first one now
				t.Fatal(err)
			}
			share.Release(second)
			share.End(second)
			until(t, "returned", func() bool { return p.Len() == 1 }) // the third one is the first now
			share.Release(third)
			share.End(third)
		})
	}
}

// TestClientWithoutKeeper ends the Keeper, as if it was killed: its tokens are not lost.
func TestClientWithoutKeeper(t *testing.T) {
	for style, offered := range offers {
		t.Run(style, func(t *testing.T) {
			how, drain := offered(t)
			p := open(t, how)
			wants, said := make(chan int, 10), make(chan string, 10)
			r, w := io.Pipe()
			c := NewClient(" --jobserver-auth="+how, func(m int) { wants <- m }, r, func(text string) { said <- text })
			acquire := func() *Job {
				t.Helper()
				j := NewJob()
				if err := c.Acquire(t.Context(), j); err != nil {
					t.Fatal(err)
				}
				return j
			}
			all := []*Job{acquire()}
			go func() {
				for range 2 {
					<-wants
					b, _ := p.Take(t.Context())
					_, _ = w.Write([]byte{b})
				}
				<-wants // and the third is wanted from another one
				w.Close()
			}()
			for range len(tokens) {
				all = append(all, acquire())
			}
			for _, j := range all {
				c.Release(j)
				c.End(j)
			}
			c.Close()
			if got := drain(); got != sorted(tokens) || len(said) != 1 {
				t.Errorf("%q left of %q, %d messages", got, tokens, len(said))
			}
		})
	}
}

// TestClientWithoutJobserver runs one job at a time if the jobserver has gone with the watcher.
func TestClientWithoutJobserver(t *testing.T) {
	said := make(chan string, 10)
	c := NewClient("", func(int) {}, bytes.NewReader(nil), func(text string) { said <- text })
	defer c.Close()
	first := NewJob()
	if err := c.Acquire(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	next := make(chan error)
	go func() { next <- c.Acquire(t.Context(), NewJob()) }()
	select {
	case <-next:
		t.Error("a second job runs")
	case <-time.After(10 * time.Millisecond):
	}
	c.Release(first)
	c.End(first)
	if err := <-next; err != nil {
		t.Error(err)
	}
	<-said
}

// newServer returns a Server with a limit that can be changed, and what it has said.
func newServer(t *testing.T, style string, n int64) (s *Server, limit *atomic.Int64, said chan string) {
	t.Helper()
	limit, said = new(atomic.Int64), make(chan string, 10)
	limit.Store(n)
	s, err := NewServer(style, func() int { return int(limit.Load()) }, func(text string) { said <- text })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		if _, err := os.Stat(s.Dir()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", s.Dir(), err)
		}
	})
	return s, limit, said
}

// until waits for what is to become true soon.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not " + what)
		}
	}
}

// TestServerFollowsLimit has a program in a job hold tokens while the limit changes.
func TestServerFollowsLimit(t *testing.T) {
	for _, style := range []string{"fifo", "pipe"} {
		t.Run(style, func(t *testing.T) {
			s, limit, _ := newServer(t, style, 3)
			j := NewJob()
			if err := s.Acquire(t.Context(), j); err != nil {
				t.Fatal(err)
			}
			p, err := Open(s.Flags("k -j8"))
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			take := func() {
				t.Helper()
				if _, err := p.Take(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			take()
			take()
			if n := s.InUse(); n != 3 || p.Len() != 0 {
				t.Errorf("%d in use, %d left", n, p.Len())
			}
			limit.Store(5)
			take()
			take()
			limit.Store(1) // the next four that come back are kept
			until(t, "seen", func() bool { return !s.adjust() })
			for range 4 {
				if err := p.Put('+'); err != nil {
					t.Fatal(err)
				}
			}
			until(t, "taken back", func() bool { return p.Len() == 0 && s.InUse() == 1 })
			s.Release(j)
			if n := s.InUse(); n != 1 {
				t.Errorf("%d in use: the first job has kept none", n)
			}
			s.End(j)
			if n := s.InUse(); n != 0 || p.Len() != 1 {
				t.Errorf("%d in use, %d left", n, p.Len())
			}
		})
	}
}

// TestServerMakesUp has a program lose tokens, and return one of them later.
func TestServerMakesUp(t *testing.T) {
	s, _, said := newServer(t, "fifo", 3)
	p, err := Open(s.Flags(""))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	acquire := func(n int) (all []*Job) {
		for range n {
			all = append(all, NewJob())
			if err := s.Acquire(t.Context(), all[len(all)-1]); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	end := func(all []*Job) {
		for _, j := range all {
			s.Release(j)
			s.End(j)
		}
	}
	all := acquire(2)
	if _, err := p.Take(t.Context()); err != nil {
		t.Fatal(err)
	}
	end(all[1:])
	s.adjust()
	if p.Len() != 1 {
		t.Errorf("%d left while a job runs", p.Len())
	}
	end(all[:1])
	all = acquire(3)
	if p.Len() != 0 || len(said) != 1 {
		t.Errorf("%d left of 3, %d messages", p.Len(), len(said))
	}
	end(all)
	if err := p.Put('+'); err != nil {
		t.Fatal(err)
	}
	until(t, "taken back", func() bool { return p.Len() == 3 })
	if n := s.InUse(); n != 0 {
		t.Errorf("%d in use", n)
	}
}
