package embedded

import (
	"crypto/tls"
	"strings"
	"testing"

	"github.com/stint-go/stint/cluster"
)

// loud is an address that others can reach, and quiet one that they cannot.
const (
	loud  = "0.0.0.0:0"
	quiet = "127.0.0.1:0"
)

func TestOptionsThatAreWrong(t *testing.T) {
	cert := &tls.Config{Certificates: []tls.Certificate{{}}}
	for _, c := range []struct {
		name string
		opts []Option
		want string // a part of the error
	}{
		{"nil", []Option{nil}, "Open: nil Option"},
		{"empty directory", []Option{Dir("")}, "Dir: empty path"},
		{"two directories", []Option{Dir("a"), Dir("b")}, `Dir("b"): Dir("a") was given already`},
		{"both", []Option{Dir("a"), Memory()}, `Memory and Dir("a") together`},
		{"both, other order", []Option{Memory(), Dir("a")}, `Memory and Dir("a") together`},
		{"memory of the client", []Option{Dir("a"), With(cluster.Memory())}, `cluster.Memory and Dir("a") together`},
		{"no port", []Option{Listen("localhost", nil)}, `Listen("localhost"): want host:port`},
		{"port by name", []Option{Listen("localhost:nats", nil)}, `port "nats": want 0 to 65535`},
		{"large port", []Option{Listen("localhost:65536", nil)}, `port "65536": want 0 to 65535`},
		{"negative port", []Option{Listen("localhost:-1", nil)}, `port "-1": want 0 to 65535`},
		{"twice", []Option{Listen(quiet, nil), Listen(quiet, nil)}, "Listen was given already"},
		{"metrics without a port", []Option{Metrics("localhost")}, `Metrics("localhost"): want host:port`},
		{"metrics at any port", []Option{Metrics(quiet)}, `Metrics("127.0.0.1:0"): want a host and a port`},
		{"metrics everywhere", []Option{Metrics(":1")}, `Metrics(":1"): want a host and a port`},
		{"metrics twice", []Option{Metrics("localhost:1"), Metrics("localhost:2")}, "Metrics was given already"},
		{"empty token", []Option{Listen(quiet, Token(""))}, "Token: token is empty"},
		{"hash as token", []Option{Listen(quiet, Token("$2a$04$x"))}, "Token: token begins with $2a$"},
		{"empty user", []Option{Listen(quiet, UserPassword("", "p"))}, "UserPassword: empty user"},
		{"empty password", []Option{Listen(quiet, UserPassword("u", ""))}, "UserPassword: password is empty"},
		{"hash as password", []Option{Listen(quiet, UserPassword("u", "$2b$04$x"))}, "UserPassword: password begins with $2b$"},
		{"nil TLS", []Option{Listen(quiet, nil), TLS(nil)}, "TLS: nil Config"},
		{"TLS twice", []Option{Listen(quiet, nil), TLS(cert), TLS(cert)}, "TLS was given twice"},
		{"no certificate", []Option{Listen(quiet, nil), TLS(&tls.Config{})}, "no certificate"},
		{"TLS alone", []Option{TLS(cert)}, "TLS without Listen"},
		{"nil for the client", []Option{With(cluster.Prefix("a"), nil)}, "With: nil ClientOption"},
	} {
		client, err := Open(c.opts...)
		if client != nil || err == nil || !strings.HasPrefix(err.Error(), "embedded: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Open = %v, %v; want an error with %q", c.name, client, err, c.want)
		}
	}
}

func TestSecretsAreNotTold(t *testing.T) {
	const secret = "$2a$hunter2"
	for _, auth := range []Auth{Token(secret), UserPassword("u", secret)} {
		if _, err := Open(Listen(quiet, auth)); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("Open = %v; want an error without the secret", err)
		}
	}
}

func TestWhoMayBeListenedToWithoutSecret(t *testing.T) {
	for _, c := range []struct {
		addr string
		free bool // needs no authentication
	}{
		{"localhost:4222", true},
		{"127.0.0.1:0", true},
		{"127.8.9.10:4222", true},
		{"[::1]:4222", true},
		{"[::ffff:127.0.0.1]:4222", true},
		{":4222", false},
		{"0.0.0.0:4222", false},
		{"[::]:0", false},
		{"10.0.0.1:4222", false},
		{"[2001:db8::1]:4222", false},
		{"[fe80::1%eth0]:4222", false},
		{"128.0.0.1:4222", false},
		{"localhost.example.org:4222", false},
		{"127.0.0.1.example.org:4222", false},
		{"example.org:4222", false},
	} {
		if _, err := collect([]Option{Listen(c.addr, Token("a"))}); err != nil {
			t.Errorf("Listen(%q, Token) is refused: %v", c.addr, err)
		}
		_, err := collect([]Option{Listen(c.addr, nil)})
		if c.free && err != nil || !c.free && (err == nil || !strings.Contains(err.Error(), "no authentication")) {
			t.Errorf("Listen(%q, nil) = %v; want it to be allowed: %v", c.addr, err, c.free)
		}
	}
}
