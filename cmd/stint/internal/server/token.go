package server

import (
	"crypto/rand"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// tokenFile is the file with the generated token of a server. Only its user can read it.
// Commands that are given a local address and no secret find the file by the address.
// The methods of a nil tokenFile do nothing.
type tokenFile struct {
	token string
	path  string // "" before it is written
}

func newTokenFile() *tokenFile { return &tokenFile{token: rand.Text()} }

// tokenPaths returns where the token of the server at an address may be. The server
// writes the first path; it is another one for commands with another environment.
func tokenPaths(host, port string) (paths []string) {
	name := "token-" + port
	if ip, err := netip.ParseAddr(host); err == nil { // a name is localhost
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

// announce writes the file before the server listens at addr, so that a command that
// waits for the server finds it. It writes nothing if the port is not known yet, or if
// another server listens there, whose file it would replace.
func (f *tokenFile) announce(addr string) error {
	if f == nil || strings.HasSuffix(addr, ":0") {
		return nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil // the server reports the error
	}
	defer l.Close()
	return f.write("nats://" + l.Addr().String())
}

// write writes the file of the server at a URL, unless it has been written. It removes
// the files that killed servers have left.
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
		return console.Failure("no file for a token: " + console.Reason(err) + "; give one by " + TokenVariable + " or --token")
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

// remove removes the file, unless another server has replaced it.
func (f *tokenFile) remove() {
	if f == nil || f.path == "" {
		return
	}
	if text, err := os.ReadFile(f.path); err == nil && string(text) == f.token {
		_ = os.Remove(f.path)
	}
}

// localToken returns the token that a server of this user at an address has written, and
// the path of the token file, or "". It reads the newest file: older ones were left by
// killed servers.
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
