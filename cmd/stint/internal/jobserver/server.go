package jobserver

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	lookInterval = 50 * time.Millisecond                                                   // between two looks whether the limit has changed
	pipeName     = "jobserver"                                                             // in the directory of a Server
	plain        = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,@" // characters of its path
)

var token = []byte{'+'}

// A Server is a jobserver for jobs, whose number of tokens follows a limit: a job takes one, and
// the programs in it take further ones. So no more than the limit run at a time, in all jobs
// together. It must be made by NewServer, and closed. Its methods may be called concurrently.
type Server struct {
	limit func() int
	say   func(string) // that tokens were lost
	dir   string
	pool  *Pool // from which jobs take tokens,
	spare *Pool // and another one of the same pipe, for those that are too many
	style string
	pipe  [2]int // descriptors that jobs inherit

	cancel context.CancelFunc
	ended  chan struct{}

	line
	total int // tokens; guarded by mu
}

// NewServer returns a Server whose number of tokens follows limit. style is fifo
// or pipe. Programs that are killed lose tokens: say is called when that was noticed.
func NewServer(style string, limit func() int, say func(string)) (s *Server, err error) {
	s = &Server{limit: limit, say: say, style: style, line: line{turn: make(chan struct{}, 1)}, ended: make(chan struct{})}
	in := os.TempDir()
	if !filepath.IsAbs(in) || strings.TrimLeft(in, plain) != "" { // make expands and cuts MAKEFLAGS
		in = "/tmp"
	}
	if s.dir, err = os.MkdirTemp(in, "stint-make-"); err != nil {
		return nil, err
	}
	if err := s.open(); err != nil {
		Remove(s.dir)
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.adjust()
	go s.follow(ctx)
	return s, nil
}

// open makes the pipe and opens it.
func (s *Server) open() (err error) {
	path := filepath.Join(s.dir, pipeName)
	if err = makeFIFO(path); err != nil {
		return err
	}
	if s.pool, err = openFIFO(path); err != nil {
		return err
	}
	if s.spare, err = openFIFO(path); err == nil && s.style == "pipe" {
		s.pipe, err = inheritable(path)
	}
	return err
}

// Dir returns the directory of the pipe.
func (s *Server) Dir() string { return s.dir }

// Flags returns the value of MAKEFLAGS for jobs. makeflags is the one of this process.
func (s *Server) Flags(makeflags string) string {
	how := "fifo:" + filepath.Join(s.dir, pipeName)
	if s.style == "pipe" {
		how = strconv.Itoa(s.pipe[0]) + "," + strconv.Itoa(s.pipe[1])
	}
	return flags(makeflags, max(1, s.limit()), how)
}

// Acquire waits until j may run. It returns the cause of ctx if ctx ends first. Calls that wait return
// in the order in which they were made, but that of the first job at once.
func (s *Server) Acquire(ctx context.Context, j *Job) error {
	return s.wait(ctx, j, func(ctx context.Context) bool {
		return s.pool.wait(ctx, func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.makeUp()
			ok := len(s.jobs) > 0 && s.jobs[0] == j
			if !ok {
				_, ok = s.pool.try()
			}
			if ok {
				s.begin(j)
			}
			return ok
		}) == nil
	})
}

// makeUp replaces lost tokens if no job runs. It is called with mu held, when one waits.
func (s *Server) makeUp() {
	if lost := s.total - s.need() - s.pool.Len(); lost > 0 && s.idle() {
		s.say(fmt.Sprintf("jobserver: %d tokens are replaced, which were lost by programs that were killed, or are held by some that outlive their jobs", lost))
		_ = s.pool.Put(bytes.Repeat(token, lost)...)
	}
}

// Release tells that j does not run any more.
func (s *Server) Release(j *Job) { s.change(func() { j.running = false }) }

// End tells that j does not run again.
func (s *Server) End(j *Job) { s.change(func() { s.end(j) }) }

// change calls f and returns the tokens that jobs need no longer.
func (s *Server) change(f func()) {
	s.mu.Lock()
	n := s.need()
	f()
	_ = s.pool.Put(bytes.Repeat(token, n-s.need())...)
	s.mu.Unlock()
	s.adjust()
}

// InUse returns how many tokens jobs, and programs in them, have.
func (s *Server) InUse() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total - s.pool.Len()
}

// adjust adds tokens, or takes away those that nobody has, until there are as many as the limit
// says. It reports whether that is so.
func (s *Server) adjust() bool {
	limit := s.limit()
	s.mu.Lock()
	defer s.mu.Unlock()
	if late := s.need() + s.pool.Len() - s.total; late > 0 { // from a program that outlives its job: its token was taken for lost
		s.total += late
	}
	if len(s.turn) > 0 { // what wakes up the caller was taken by the next lines, perhaps
		s.makeUp()
	}
	if more := limit - s.total; more > 0 {
		_ = s.pool.Put(bytes.Repeat(token, more)...)
		s.total = limit
	}
	for ok := true; ok && s.total > limit; {
		if _, ok = s.pool.try(); ok {
			s.total--
		}
	}
	return s.total == limit
}

// follow adjusts the number of tokens until ctx ends. While there are too many it waits for them,
// as other programs do.
func (s *Server) follow(ctx context.Context) {
	defer close(s.ended)
	for tick := time.Tick(lookInterval); ; {
		select {
		case <-tick:
		case <-ctx.Done():
			return
		}
		if !s.adjust() {
			short, cancel := context.WithTimeout(ctx, lookInterval)
			_ = s.spare.wait(short, s.adjust)
			cancel()
		}
	}
}

// Close removes the pipe. No job may run. The descriptors that jobs have inherited stay open.
func (s *Server) Close() {
	s.cancel()
	<-s.ended
	s.pool.Close()
	s.spare.Close()
	Remove(s.dir)
}

// Remove removes the pipe of a Server that was killed, by its directory.
func Remove(dir string) {
	_ = os.Remove(filepath.Join(dir, pipeName))
	_ = os.Remove(dir)
}
