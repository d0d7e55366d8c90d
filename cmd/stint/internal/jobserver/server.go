package jobserver

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

const (
	lookInterval = 50 * time.Millisecond // between two looks whether the limit has changed
	pipeName     = "jobserver"           // in the directory of a Server
)

var token = []byte{'+'}

// A Server is a jobserver for jobs, whose number of tokens follows a limit: a job takes one, and
// the programs in it take further ones. So no more than the limit run at a time, in all jobs
// together. It must be made by NewServer, and closed. Its methods may be called concurrently.
type Server struct {
	limit func() int
	say   func(string) // that tokens were lost
	dir   string
	jobs  *Pool // from which jobs take tokens,
	spare *Pool // and another one of the same pipe, for those that are too many
	style string
	pipe  [2]int // descriptors that jobs inherit

	turn   chan struct{} // has the caller that waits
	cancel context.CancelFunc
	ended  chan struct{}

	mu      sync.Mutex
	total   int // tokens
	running int // jobs
}

// NewServer returns a Server whose number of tokens follows limit. style is fifo, pipe, or auto:
// what the make in PATH takes. Programs that are killed lose tokens: say is called when that was
// noticed.
func NewServer(style string, limit func() int, say func(string)) (s *Server, err error) {
	if style == "auto" {
		style = styleOf("make")
	}
	s = &Server{limit: limit, say: say, style: style, turn: make(chan struct{}, 1), ended: make(chan struct{})}
	if s.dir, err = os.MkdirTemp("", "stint-make-"); err != nil {
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
	if s.jobs, err = openFIFO(path); err != nil {
		return err
	}
	if s.spare, err = openFIFO(path); err == nil && s.style == "pipe" {
		s.pipe, err = inheritable(path)
	}
	return err
}

// styleOf returns how a make is told of a jobserver: before version 4.4 by descriptors.
func styleOf(name string) string {
	text, _ := exec.Command(name, "--version").Output()
	_, version, _ := bytes.Cut(text, []byte("GNU Make "))
	var major, minor int
	if n, _ := fmt.Sscanf(string(version), "%d.%d", &major, &minor); n == 2 && (major < 4 || major == 4 && minor < 4) {
		return "pipe"
	}
	return "fifo"
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

// Acquire waits until one more job may run. It returns the cause of ctx if ctx ends first. Calls
// that wait return in the order in which they were made.
func (s *Server) Acquire(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-s.turn }()
	return s.jobs.wait(ctx, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.makeUp()
		_, ok := s.jobs.try()
		if ok {
			s.running++
		}
		return ok
	})
}

// makeUp replaces lost tokens if no job runs. It is called with mu held, when one waits.
func (s *Server) makeUp() {
	if lost := s.total - s.jobs.Len(); lost > 0 && s.running == 0 {
		s.say(fmt.Sprintf("jobserver: programs that were killed have lost tokens: %d, which are replaced", lost))
		_ = s.jobs.Put(bytes.Repeat(token, lost)...)
	}
}

// Release tells that a job has ended.
func (s *Server) Release() {
	s.mu.Lock()
	s.running--
	_ = s.jobs.Put(token...)
	s.mu.Unlock()
	s.adjust()
}

// Running returns how many jobs run.
func (s *Server) Running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// InUse returns how many tokens jobs, and programs in them, have.
func (s *Server) InUse() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total - s.jobs.Len()
}

// adjust adds tokens, or takes away those that nobody has, until there are as many as the limit
// says. It reports whether that is so.
func (s *Server) adjust() bool {
	limit := s.limit()
	s.mu.Lock()
	defer s.mu.Unlock()
	if late := s.running + s.jobs.Len() - s.total; late > 0 { // from a program that outlives its job: its token was taken for lost
		s.total += late
	}
	if len(s.turn) > 0 { // what wakes up the caller was taken by the next lines, perhaps
		s.makeUp()
	}
	if more := limit - s.total; more > 0 {
		_ = s.jobs.Put(bytes.Repeat(token, more)...)
		s.total = limit
	}
	for ok := true; ok && s.total > limit; {
		if _, ok = s.jobs.try(); ok {
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
	s.jobs.Close()
	s.spare.Close()
	Remove(s.dir)
}

// Remove removes the pipe of a Server that was killed, by its directory.
func Remove(dir string) {
	_ = os.Remove(filepath.Join(dir, pipeName))
	_ = os.Remove(dir)
}
