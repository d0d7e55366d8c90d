package server

import (
	"cmp"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// tokenFile is the file with the generated token of a server. Only its user can read it.
// Commands that are given a local address and no secret find the file by the port.
// The methods of a nil tokenFile do nothing.
type tokenFile struct {
	token string
	path  string // "" before it is written
}

func newTokenFile() *tokenFile { return &tokenFile{token: rand.Text()} }

// tokenPath returns where the token of the server at a port of this machine is. Machines may
// share the configuration directory: the name of the machine is part of the path.
func tokenPath(port uint16) (string, error) {
	dir, err := os.UserConfigDir()
	machine, _ := os.Hostname() // "" is a name, too
	return filepath.Join(dir, "stint", fmt.Sprint("token-", port, "@", url.PathEscape(machine))), err
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

// write writes the file of the server at a URL.
func (f *tokenFile) write(where string) error {
	if f == nil {
		return nil
	}
	u, err := url.Parse(where)
	if err != nil {
		return err
	}
	addr, err := net.ResolveTCPAddr("tcp", u.Host) // that of net.Listen
	if err != nil {
		return err
	}
	path, err := tokenPath(addr.AddrPort().Port())
	if err == nil {
		err = f.create(path)
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

// localToken returns the token that a server of this user at a port has written, and the path of
// the token file, or "". Only this machine's own addresses have one.
func localToken(ip netip.Addr, port uint16) (token, path string) {
	path, err := tokenPath(port)
	if err != nil || !ip.IsLoopback() {
		return "", ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", ""
	}
	return string(text), path
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

// An otherServerError is the error of a connection to a program that is not known to be a
// server that this user may trust.
type otherServerError string

func (e otherServerError) Error() string { return string(e) }

func unknownServer(path string) error {
	return otherServerError("the server does not know the token in " + console.Quote(path) +
		": another user's program may listen there; if it is yours, give its certificate authority by --tls-ca, or remove the file")
}

// A login is how a client without a secret uses servers. Each is looked at when it is
// connected, whatever the URL calls it. If its address has a token file, it has to prove by
// TLS that it knows the token, before it is told or believed anything. Otherwise it may not be
// the program of another user of this machine.
type login struct {
	nats.CustomDialer
	trusted bool                        // certificate authorities vouch for all servers
	last    atomic.Pointer[checkedConn] // the client has one connection at a time
}

// Dial implements nats.CustomDialer.
func (l *login) Dial(network, address string) (net.Conn, error) {
	conn, err := l.CustomDialer.Dial(network, address)
	if err != nil {
		return nil, err
	}
	c := &checkedConn{Conn: conn}
	if peer, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil {
		c.ip = peer.Addr().Unmap().WithZone("")
		c.token, c.path = localToken(c.ip, peer.Port()) // a restarted server has another one
		if before := l.last.Load(); before != nil && c.path == "" && before.ip == c.ip {
			c.token, c.path = before.token, before.path // until there is one, nobody else is believed
		}
	}
	l.last.Store(c)
	return c, nil
}

// token returns the token for the server that was connected last, or "" if it has proved
// nothing.
func (l *login) token() string {
	if c := l.last.Load(); c.proved || l.trusted {
		return c.token
	}
	return ""
}

// tls returns how the client uses TLS, if a server wants it or has to prove something.
func (l *login) tls() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, // verify does it
		VerifyConnection:   func(s tls.ConnectionState) error { return l.last.Load().verify(s, nil) },
	}
}

// A checkedConn is a connection to a server that shares no secret with the user but perhaps a
// token file.
type checkedConn struct {
	net.Conn
	ip          netip.Addr // of the server
	token, path string     // of the token file, or ""
	isTLS       bool       // something was written
	proved      bool       // the server knows the token
	isChecked   bool       // something was read, and the user of the server may be trusted
}

// verify verifies the server: by the token, or as any TLS client with these authorities, nil
// for those of the system.
func (c *checkedConn) verify(s tls.ConnectionState, roots *x509.CertPool) error {
	leaf := s.PeerCertificates[0]
	if c.path != "" { // nobody has signed the certificate: its key is what counts
		if c.proved = serverKey(c.token).Public().(ed25519.PublicKey).Equal(leaf.PublicKey); !c.proved {
			return unknownServer(c.path)
		}
		return nil
	}
	opts := x509.VerifyOptions{Roots: roots, DNSName: cmp.Or(s.ServerName, c.ip.String()), Intermediates: x509.NewCertPool()} // an address is no ServerName
	for _, cert := range s.PeerCertificates[1:] {
		opts.Intermediates.AddCert(cert)
	}
	_, err := leaf.Verify(opts)
	if err != nil && c.ip.IsLoopback() {
		return fmt.Errorf("%w: be the user that started it, or give its certificate authority by --tls-ca", err)
	}
	return err
}

// Write writes nothing but TLS to a server that has to prove something.
func (c *checkedConn) Write(p []byte) (int, error) {
	const handshake = 22 // the first byte of TLS
	if c.path != "" && !c.isTLS && len(p) > 0 {
		if p[0] != handshake {
			return 0, unknownServer(c.path)
		}
		c.isTLS = true
	}
	return c.Conn.Write(p)
}

// checkUser is checkOwner, but in tests.
var checkUser = checkOwner

// Read refuses what the program of another user says. The system knows the user when the
// program has accepted the connection; then it can say something.
func (c *checkedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && !c.isChecked {
		if c.path == "" {
			if err := checkUser(c.Conn); err != nil {
				return 0, err
			}
		}
		c.isChecked = true
	}
	return n, err
}
