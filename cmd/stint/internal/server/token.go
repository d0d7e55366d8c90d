package server

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
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
// writes the first path; it is another one for commands with another environment. Machines
// may share the configuration directory: there the name of the machine is part of the path.
func tokenPaths(host, port string) (paths []string) {
	name := "token-" + port
	if ip, err := netip.ParseAddr(host); err == nil { // a name is localhost
		ip = ip.Unmap()
		if ip != netip.IPv6Loopback() && ip != netip.AddrFrom4([4]byte{127, 0, 0, 1}) {
			name = "token-" + ip.String() + "-" + port
		}
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		paths = append(paths, filepath.Join(dir, "stint", name))
	}
	if dir, err := os.UserConfigDir(); err == nil && filepath.IsAbs(dir) {
		machine, _ := os.Hostname() // "" is a name, too
		paths = append(paths, filepath.Join(dir, "stint", name+"@"+url.PathEscape(machine)))
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

// serverKey returns the private key of the server with a generated token. Whoever knows the
// token knows the key: so the server proves that it is the one of the token file before a
// client sends the token, or believes it.
func serverKey(token string) ed25519.PrivateKey {
	seed, err := hkdf.Key(sha256.New, []byte(token), nil, "stint serve", ed25519.SeedSize)
	if err != nil {
		panic(err) // never: the size is right
	}
	return ed25519.NewKeyFromSeed(seed)
}

// tls returns how the server uses TLS.
func (f *tokenFile) tls() (*tls.Config, error) {
	key := serverKey(f.token)
	about := &x509.Certificate{SerialNumber: big.NewInt(1)}
	cert, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: key}}}, err
}

// errOtherServer is the error of a handshake with a server that does not know the token.
var errOtherServer = errors.New("the server does not know the token of this user's server")

// localTLS returns how a client uses TLS to the server of this user at an address. It reads
// the file for each connection: a restarted server has another token.
func localTLS(host, port string) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // nobody has signed the certificate: its key is what counts
		VerifyConnection: func(s tls.ConnectionState) error {
			token, path := localToken(host, port)
			if key := serverKey(token).Public().(ed25519.PublicKey); path == "" || !key.Equal(s.PeerCertificates[0].PublicKey) {
				return errOtherServer
			}
			return nil
		},
	}
}
