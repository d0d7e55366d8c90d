package local

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/jobserver"
	"github.com/stint-go/stint/cmd/stint/internal/limit"
)

// A Share says with whom a Machine shares the number of jobs. The zero value is with nobody.
type Share struct {
	Client bool         // with the make that has started this process
	Style  string       // otherwise with makes in jobs, told of it in this way; empty: with none
	Say    func(string) // what the user may want to know
}

// A share is a part of the jobs that may run.
type share interface {
	Acquire(context.Context) error // waits until one more job may run
	Release()
	Close()
}

const makeflags = "MAKEFLAGS"

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
		server, err := jobserver.NewServer(s.Style, m.Limit.Tokens, s.Say)
		if err != nil {
			return nil, fmt.Errorf("--jobserver: %w", err)
		}
		m.Limit.Share(limit.Share{Running: server.Running, InUse: server.InUse})
		m.share, m.Variables = server, []string{makeflags + "=" + server.Flags(os.Getenv(makeflags))}
		flag = []string{"--remove", server.Dir()}
	}
	if len(watcher) == 0 {
		return nil, nil
	}
	return append(watcher, flag...), nil
}

// acquire waits until one more job may run, and reports false if ctx ends first.
func (m *Machine) acquire(ctx context.Context) bool {
	if m.share == nil {
		return true
	}
	if m.share.Acquire(ctx) != nil {
		return false
	}
	m.Limit.Shared()
	return true
}

// release tells that a job has ended.
func (m *Machine) release() {
	if m.share != nil {
		m.share.Release()
		m.Limit.Shared()
	}
}
