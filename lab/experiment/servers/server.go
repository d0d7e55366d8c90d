package servers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A server serves tasks.
type server struct {
	name    string
	find    func() (path string, err error) // nil: it is part of the laboratory
	start   func(ctx context.Context, dir, path string) (running, error)
	links   []link // none: one without a name
	rows    []row  // without their tasks
	connect func(ctx context.Context, address string) (tasks []task, end func(), err error)
}

// running is a server that has started.
type running struct {
	near, address string // for direct connections, and for a proxy
	stop          func()
}

// open starts the server, unless models are only listed.
func (s server) open(ctx context.Context, dir string, listing bool) (running, error) {
	at, path := running{stop: func() {}}, ""
	if s.find != nil {
		var err error
		if path, err = s.find(); err != nil {
			return at, err
		}
	}
	if listing || s.start == nil {
		return at, nil
	}
	home := filepath.Join(dir, s.name)
	if err := os.Mkdir(home, 0o755); err != nil {
		return at, err
	}
	if err := os.Chmod(dir, 0o711); err != nil { // for servers that run as another user
		return at, err
	}
	started, err := s.start(ctx, home, path)
	if err != nil {
		return at, err // whose stop does nothing
	}
	return started, nil
}

// A link leads to a server.
type link struct {
	name        string
	rtt, jitter time.Duration // longer than direct connections
}

func (k link) isFar() bool { return k.rtt > 0 }

// far returns a link with a round trip.
func far(rtt time.Duration) link { return link{name: fmt.Sprintf("rtt=%v", rtt), rtt: rtt} }

// distances are the links to most servers.
func distances() []link {
	return []link{{name: "near"}, far(2 * time.Millisecond), far(20 * time.Millisecond)}
}

// jittery is a link whose round trips take 20 to 40 ms.
func jittery() link {
	const rtt = 20 * time.Millisecond
	return link{name: fmt.Sprintf("rtt=%v/jitter=%v", rtt, rtt), rtt: rtt, jitter: rtt}
}

// servers are all that are measured.
func (z sizes) servers() []server {
	all := []server{z.sleeper(), z.web(), z.webBatch(), refusing(), files()}
	if !z.own {
		all = append(all, postgres(), nginx(), redisServer())
	}
	return all
}
