package server

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestTokenPath has a file for each port and machine, which is that of no other machine's server.
func TestTokenPath(t *testing.T) {
	homes(t)
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	f := newTokenFile()
	if err := f.write("nats://127.0.0.1:1"); err != nil || filepath.Base(f.path) != "token-1@"+machine {
		t.Errorf("the file is %q, %v; want the port and the machine in its name", f.path, err)
	}
	for ip, want := range map[string]string{"127.0.0.1": f.token, "::1": f.token, "::ffff:127.0.0.1": f.token, "10.0.0.1": "", "fe80::1": ""} {
		if got, _ := localToken(netip.MustParseAddr(ip), 1); got != want {
			t.Errorf("the token of %s is %q, want %q", ip, got, want)
		}
	}
	if got, _ := localToken(netip.MustParseAddr("127.0.0.1"), 2); got != "" {
		t.Errorf("another port has the token %q", got)
	}
	f.remove()
	if got, _ := localToken(netip.MustParseAddr("127.0.0.1"), 1); got != "" {
		t.Errorf("the removed file has the token %q", got)
	}
}

// homes makes directories of their own for token files, and sets no token.
func homes(t *testing.T) {
	for _, home := range []string{"HOME", "XDG_CONFIG_HOME", "AppData"} {
		t.Setenv(home, t.TempDir())
	}
	t.Setenv(TokenVariable, "")
}

// TestNames has every way to name a server on this machine, with and without a secret. Without
// one the client looks whose program it is. With a token file it sends nothing but TLS.
func TestNames(t *testing.T) {
	homes(t)
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	sent := make(chan string, 100)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = c.Write([]byte("INFO {\"max_payload\":1048576,\"headers\":true,\"proto\":1}\r\n"))
				b := make([]byte, 1000)
				n, _ := c.Read(b)
				sent <- string(b[:n])
			}()
		}
	}()
	var looked atomic.Int64
	checkUser = func(net.Conn) error { looked.Add(1); return otherServerError("another user's") }
	defer func() { checkUser = checkOwner }()
	for _, name := range []string{
		"nats://127.0.0.1:P", "127.0.0.1:P", "nats://localhost:P", "nats://LOCALHOST:P", "nats://LocalHost.:P", "nats://127.0.0.2:P", "nats://[::1]:P", "[::ffff:127.0.0.1]:P",
		"nats://0.0.0.0:P", "nats://@127.0.0.1:P", "nats://:@127.0.0.1:P", "nats://127.0.0.1:P,nats://127.0.0.1:P", "nats://127.0.0.1:P, localhost:P", "nats://s3cret@127.0.0.1:P", "s3cret@127.0.0.1:P, nats://s3cret@localhost:P",
		"nats://" + machine + ":P", "tls://127.0.0.1:P", "ws://127.0.0.1:P", "ws://localhost:P,ws://127.0.0.1:P",
	} {
		url := strings.ReplaceAll(name, "P", port)
		host, _, _ := net.SplitHostPort(strings.TrimPrefix(url, "nats://"))
		if c, err := net.Dial("tcp", net.JoinHostPort(strings.Trim(host, "[]"), port)); err != nil && !strings.ContainsAny(name, ",@") && !strings.HasPrefix(name, "tls") && !strings.HasPrefix(name, "ws") {
			t.Logf("%s: %v", name, err) // this machine does not have the name
			continue
		} else if c != nil {
			c.Close()
			<-sent
		}
		for _, secret := range []string{"", "s3cret"} {
			t.Setenv(TokenVariable, secret)
			c := &Connection{URL: url}
			if strings.Contains(url, "s3cret@") {
				secret = "s3cret"
			}
			looked.Store(0)
			_, err := c.Connect(t.Context())
			if err == nil || (looked.Load() > 0) != (secret == "") || (secret == "") != strings.Contains(err.Error(), "another user's") {
				t.Errorf("%s, secret %q: looked %d times at the user, %v", name, secret, looked.Load(), err)
			}
			for range max(1, looked.Load()) { // a connection each
				if got := <-sent; secret == "" && got != "" && !strings.HasPrefix(got, "GET / HTTP/1.1") {
					t.Errorf("%s, secret %q: sent %q", name, secret, got)
				}
			}
			for len(sent) > 0 {
				<-sent
			}
		}
	}
}

// TestVerify verifies servers without a token file, as other TLS clients do.
func TestVerify(t *testing.T) {
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{{127, 0, 0, 1}}, DNSNames: []string{"first"}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, about, about, public, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	known := x509.NewCertPool()
	known.AddCert(cert)
	for _, test := range []struct {
		name, ip    string
		roots       *x509.CertPool
		ok, advises bool
	}{
		{"first", "10.0.0.1", known, true, false}, {"", "127.0.0.1", known, true, false}, {"", "127.0.0.2", known, false, true}, {"second", "127.0.0.1", known, false, true},
		{"", "10.0.0.1", known, false, false}, {"first", "10.0.0.1", nil, false, false}, {"first", "::1", nil, false, true},
	} {
		c := &checkedConn{ip: netip.MustParseAddr(test.ip)}
		err := c.verify(tls.ConnectionState{ServerName: test.name, PeerCertificates: []*x509.Certificate{cert}}, test.roots)
		if advises := err != nil && strings.Contains(err.Error(), "--tls-ca"); (err == nil) != test.ok || advises != test.advises || c.proved {
			t.Errorf("%q at %s: %v", test.name, test.ip, err)
		}
	}
}
