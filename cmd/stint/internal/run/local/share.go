package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/jobserver"
	"github.com/stint-go/stint/cmd/stint/internal/limit"
	"github.com/stint-go/stint/cmd/stint/internal/process"
)

// A Share says with whom a Machine shares the number of jobs. The zero value is with nobody.
type Share struct {
	Client bool         // with the make that has started this process
	Style  string       // otherwise with makes in jobs, told of it in this way, or auto; empty: with none
	For    string       // the program of the jobs
	Say    func(string) // what the user may want to know
}

// A share is a part of the jobs that may run.
type share interface {
	Acquire(context.Context, *jobserver.Job) error // waits until the job may run
	Release(*jobserver.Job)
	End(*jobserver.Job)
	Close()
}

const (
	makeflags      = "MAKEFLAGS"
	cargoMakeflags = "CARGO_MAKEFLAGS" // which cargo reads first, perhaps that of a cargo around this run
	versionTime    = 10 * time.Second  // after which a make that does not tell its version is killed
)

// HasJobserver reports whether a make has started this process and shares its jobs. If it does not
// though it could, the limit adapts as without a make: it sees what CPUs the other jobs leave.
func HasJobserver(say func(string)) bool {
	pool, err := jobserver.Open(os.Getenv(makeflags))
	if err == nil {
		pool.Close()
	} else if !errors.Is(err, jobserver.ErrNone) {
		say("the number of jobs is not shared with make: " + console.Reason(err))
	}
	return err == nil
}

// serve makes the limit one for all makes in jobs together, or leaves that to the make that has
// started this process. It returns the command of the watcher.
func (m *Machine) serve(s Share, watcher []string) ([]string, error) {
	var flag []string
	if s.Client {
		flag = []string{"--tokens"}
	} else if s.Style != "" {
		if s.Style == "auto" {
			s.Style = styleFor(s.For)
		}
		server, err := jobserver.NewServer(s.Style, m.Limit.Tokens, s.Say)
		if err != nil {
			return nil, console.Failure("--jobserver: " + err.Error())
		}
		m.Limit.Share(limit.Share{Running: server.Begun, InUse: server.InUse})
		m.share = server
		for _, name := range []string{makeflags, cargoMakeflags} {
			m.Variables = append(m.Variables, name+"="+server.Flags(os.Getenv(makeflags)))
		}
		flag = []string{"--remove", server.Dir()}
	}
	if len(watcher) == 0 {
		return nil, nil
	}
	return append(watcher, flag...), nil
}

// styleFor returns how a program is told of a jobserver: by descriptors if the make in PATH is older
// than version 4.4. A ninja knows the named pipe only.
func styleFor(program string) string {
	path, err := exec.LookPath("make")
	if err != nil || filepath.Base(program) == "ninja" {
		return "fifo"
	}
	e, err := process.New(nil)
	if err != nil {
		return "fifo"
	}
	defer e.Close()
	var text bytes.Buffer
	c := &process.Command{Path: path, Args: []string{"make", "--version"}, Env: os.Environ(), Stdout: &text, Stderr: io.Discard}
	_, _ = e.Run(c, func(p *process.Process) { time.AfterFunc(versionTime, p.Kill) })
	_, version, _ := strings.Cut(text.String(), "GNU Make ")
	var major, minor int
	if n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor); n == 2 && (major < 4 || major == 4 && minor < 4) {
		return "pipe"
	}
	return "fifo"
}

// acquire waits until a job may run, and reports false if ctx ends first.
func (x *Executor) acquire(ctx context.Context, token *jobserver.Job) bool {
	if x.share == nil {
		return true
	}
	if x.share.Acquire(ctx, token) != nil {
		return false
	}
	x.starts.late(x.Policy.Delay)
	x.Limit.Shared()
	return true
}

// release tells that a job does not run any more.
func (m *Machine) release(token *jobserver.Job) {
	if m.share != nil {
		m.share.Release(token)
	}
}

// end tells that a job does not run again.
func (m *Machine) end(token *jobserver.Job) {
	if m.share != nil {
		m.share.End(token)
		m.Limit.Shared()
	}
}
