package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/stint-go/stint/cluster/embedded"
)

// A tokenFile has the token of a server that was given none. Only its user can read it,
// and the commands that are given an address of this machine, and no secret, find it by
// that address.
type tokenFile struct {
	token string
	path  string // "" before it is written
}

func newTokenFile() *tokenFile { return &tokenFile{token: rand.Text()} }

// tokenPaths are where the token of the server at an address is: the first of them, unless
// the server was started where the environment was another one.
func tokenPaths(host, port string) (paths []string) {
	name := "token-" + port
	if ip, err := netip.ParseAddr(host); err == nil { // no name, which is localhost
		ip = ip.Unmap()
		if ip != netip.IPv6Loopback() && ip != netip.AddrFrom4([4]byte{127, 0, 0, 1}) {
			name = "token-" + ip.String() + "-" + port
		}
	}
	dirs := []string{os.Getenv("XDG_RUNTIME_DIR")}
	if dir, err := os.UserConfigDir(); err == nil {
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		if filepath.IsAbs(dir) {
			paths = append(paths, filepath.Join(dir, "stint", name))
		}
	}
	return paths
}

// announce writes the file before the server listens at addr: who waits for the server is
// to find the file when it is there. But not if another server is, whose file it would be,
// nor if the port is not known yet.
func (f *tokenFile) announce(addr string) error {
	if f == nil || strings.HasSuffix(addr, ":0") {
		return nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil // the server says why
	}
	defer l.Close()
	return f.write("nats://" + l.Addr().String())
}

// write writes the file of the server at that URL, unless that was done, in the place of
// those that killed servers have left.
func (f *tokenFile) write(where string) error {
	if f == nil || f.path != "" {
		return nil
	}
	u, err := url.Parse(where)
	if err != nil {
		return err
	}
	paths := tokenPaths(u.Hostname(), u.Port())
	if err = errors.New("neither XDG_RUNTIME_DIR nor a home is set"); len(paths) > 0 {
		for _, old := range paths {
			_ = os.Remove(old)
		}
		err = f.create(paths[0])
	}
	if err != nil {
		return &failure{"no file for a token: " + reason(err) + "; give one by " + tokenVariable + " or --token"}
	}
	return nil
}

func (f *tokenFile) create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".token-") // 0600
	if err != nil {
		return err
	}
	_, err = file.WriteString(f.token)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return err
	}
	f.path = path
	return nil
}

// remove removes the file, unless it is that of another server by now.
func (f *tokenFile) remove() {
	if f == nil || f.path == "" {
		return
	}
	if text, err := os.ReadFile(f.path); err == nil && string(text) == f.token {
		_ = os.Remove(f.path)
	}
}

// localToken returns the token of the server of this user at an address, and the file that
// it is in, or "". Of two files the older one is of a server that was killed.
func localToken(host, port string) (token, path string) {
	var newest time.Time
	for _, p := range tokenPaths(host, port) {
		info, err := os.Stat(p)
		if err != nil || path != "" && !info.ModTime().After(newest) {
			continue
		}
		if text, err := os.ReadFile(p); err == nil {
			token, path, newest = string(text), p, info.ModTime()
		}
	}
	return token, path
}

// readUsers reads a file of users: a role, a name and a password a line. Empty lines, and
// those that begin with #, do not count.
func readUsers(path string) (users []embedded.User, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, errors.New("others can read or change it: want mode 0600")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.HasPrefix(words[0], "#"):
		case len(words) != 3:
			return nil, fmt.Errorf("line %d: want a role, a name and a password", n)
		default:
			users = append(users, embedded.User{Role: embedded.Role(words[0]), Name: words[1], Password: words[2]})
		}
	}
	return users, nil
}
