package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/stint-go/stint/lab/child"
	"github.com/stint-go/stint/lab/proxy"
)

// A role describes a process that is not this one, so that it does not use the processors of the
// Go scheduler here: the guard of a server if Run is set, a proxy if To is set, otherwise a web
// server.
type role struct {
	Run []string // command
	Dir string   // to run it in

	To                string // address of the server
	RoundTrip, Jitter time.Duration
}

// childVar is the environment variable that holds a role.
const childVar = "STINT_LAB_SERVER"

// Child runs this process as a child, if it was started as one, and returns its
// exit status. Programs that run the experiment call it first.
func Child() (status int, ok bool) { return child.Main(childVar, play) }

// play serves until ctx ends, and says its address if it has chosen it.
func play(ctx context.Context, r role, say func(line string)) error {
	switch {
	case len(r.Run) > 0:
		cmd := exec.CommandContext(ctx, r.Run[0], r.Run[1:]...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = r.Dir, os.Stderr, os.Stderr
		cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(os.Interrupt) }, 10*time.Second
		say("")
		if err := cmd.Run(); ctx.Err() == nil {
			return fmt.Errorf("it has ended: %v", err)
		}
		return nil
	case r.To != "":
		p, err := proxy.Listen(r.To, r.RoundTrip, r.Jitter)
		if err != nil {
			return err
		}
		say(p.Address())
		<-ctx.Done()
		return p.Close()
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &http.Server{Handler: http.HandlerFunc(pages)}
	go s.Serve(l)
	say(l.Addr().String())
	<-ctx.Done()
	return s.Close()
}

// start starts a child and returns its address.
func (r role) start(ctx context.Context, _ string) (*child.Process, string, error) {
	cmd, err := child.Again(context.WithoutCancel(ctx), childVar, r) // End is called also when ctx has ended
	if err != nil {
		return nil, "", err
	}
	p, err := child.Start(cmd)
	if err != nil {
		return nil, "", err
	}
	return p, p.Said, nil
}

// A program is a server that may be installed.
type program struct {
	name    string
	folders []string // where it may be, if it is not in PATH
	users   []string // who may run it if this user is root, the first that exists
	prepare func(folder, home, address string) (init []string, err error)
	args    func(home, port string) []string
	ready   func(ctx context.Context, address string) error
}

// start starts a server with a folder in dir, and waits until it is ready, for 20 seconds.
func (s program) start(ctx context.Context, dir string) (*child.Process, string, error) {
	path, err := s.find()
	if err != nil {
		return nil, "", err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	address := l.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	l.Close() // the server takes the port
	home := filepath.Join(dir, s.name)
	if err := os.Mkdir(home, 0o755); err != nil {
		return nil, "", err
	}
	as, err := s.unprivileged(home)
	if err != nil {
		return nil, "", err
	}
	init, err := s.prepare(filepath.Dir(path), home, address)
	if err == nil && len(init) > 0 {
		init = append(as, init...)
		cmd := exec.CommandContext(ctx, init[0], init[1:]...)
		cmd.Dir = home
		if out, failed := cmd.CombinedOutput(); failed != nil {
			err = fmt.Errorf("%s: %w: %s", init, failed, out)
		}
	}
	if err != nil {
		return nil, "", err
	}
	p, _, err := role{Dir: home, Run: slices.Concat(as, []string{path}, s.args(home, port))}.start(ctx, "")
	if err != nil {
		return nil, "", err
	}
	for tries := 1; ; tries++ {
		if err = s.ready(ctx, address); err == nil {
			return p, address, nil
		}
		select {
		case <-p.Ended:
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
			if tries < 400 {
				continue
			}
		}
		return nil, "", errors.Join(err, p.End())
	}
}

// find returns the path of the program.
func (s program) find() (string, error) {
	path, err := exec.LookPath(s.name)
	if err != nil {
		var found []string
		for _, pattern := range s.folders {
			all, _ := filepath.Glob(filepath.Join(pattern, s.name))
			found = append(found, all...)
		}
		if len(found) == 0 {
			return "", fmt.Errorf("%s is not installed", s.name)
		}
		path = slices.Max(found) // the newest version
	}
	return filepath.EvalSymlinks(path)
}

// unprivileged returns the words before a command that run it as the first of the users that
// exists, to whom it gives the folder, if this process is root, which some servers refuse.
func (s program) unprivileged(home string) ([]string, error) {
	if os.Getuid() != 0 || len(s.users) == 0 {
		return nil, nil
	}
	for _, name := range s.users {
		if u, err := user.Lookup(name); err == nil {
			uid, err1 := strconv.Atoi(u.Uid)
			gid, err2 := strconv.Atoi(u.Gid)
			return []string{"setpriv", "--reuid", u.Uid, "--regid", u.Gid, "--clear-groups"}, cmp.Or(err1, err2, os.Chown(home, uid, gid))
		}
	}
	return nil, fmt.Errorf("there is no user %q", s.users)
}
