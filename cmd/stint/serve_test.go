package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/server"
	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// homeless makes another directory for token files.
func homeless(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"XDG_CONFIG_HOME", "HOME", "AppData"} { // the configuration directory, on some systems
		t.Setenv(name, dir)
	}
}

// TestTokenFile checks the file with the generated token of a server.
func TestTokenFile(t *testing.T) {
	homeless(t)
	address := freeAddress(t)
	path := tokenPath(t, address[len("127.0.0.1:"):])
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	testfiles.Write(t, path, "of a server that was killed")
	b := begin(t, false, "serve", "--listen", address)
	url := b.line()
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want mode %v", name, info, err, want)
		}
	}
	wantRun(t, 1, "", "in use", "serve", "--listen", address)
	for _, this := range []string{url, strings.TrimPrefix(url, "nats://"), strings.Replace(url, "127.0.0.1", "LOCALHOST", 1), url + "," + url} {
		wantRun(t, 0, "no runs", "", "status", "--cluster", this)
	}
	homeless(t)
	wantRun(t, 1, "", "be the user that started it", "status", "--cluster", url)
	b.end(0)
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestToken connects with right and wrong tokens.
func TestToken(t *testing.T) {
	testfiles.Dir(t, "a", "a\n")
	url, _ := serve(t, "--token", "s3cret")
	if strings.Contains(url, "s3cret") {
		t.Errorf("the server prints %q, with the token", url)
	}
	with := withSecret(url, "s3cret")
	worker(t, "--cluster", with)
	for _, test := range []struct {
		token, url string
		code       int
	}{
		{"", url, 1}, {"wrong", url, 1}, {"", withSecret(url, "wr0ng"), 1},
		{"s3cret", url, 0}, {"", with, 0}, {"wrong", with, 0},
	} {
		t.Setenv(server.TokenVariable, test.token)
		_, errs, code := runStint(t, "", "sum", "a", "--cluster", test.url)
		if code != test.code || (errs == "") != (code == 0) || strings.Contains(errs, "wr0ng") {
			t.Errorf("%+v: exit status %d, messages %q", test, code, errs)
		}
		t.Setenv(server.ClusterVariable, test.url)
		if _, errs, code := runStint(t, "", "status"); code != test.code {
			t.Errorf("%+v: exit status %d of status, messages %q", test, code, errs)
		}
	}
	t.Setenv(server.TokenVariable, "other")
	url, _ = serve(t)
	wantRun(t, 0, "no runs", "", "status", "--cluster", url)
	wantRun(t, 1, "", "stint: ", "status", "--cluster", withSecret(url, "no"))
}

// TestTLS connects with and without the certificate authority.
func TestTLS(t *testing.T) {
	testfiles.Dir(t, "a", "a\n")
	certify(t, ".")
	url, _ := serve(t, "--tls-cert", "cert.pem", "--tls-key", "key.pem")
	if !strings.HasPrefix(url, "tls://") {
		t.Errorf("the server prints %q, want tls://", url)
	}
	wantRun(t, 1, "", "by --tls-ca", "status", "--cluster", url)
	worker(t, "--cluster", url, "--tls-ca", "cert.pem")
	wantRun(t, 0, "  a\n", "", "sum", "a", "--cluster", url, "--tls-ca", "cert.pem")
	for _, args := range []string{"", "--tls-ca missing.pem", "--credentials missing.creds --tls-ca cert.pem"} {
		if _, errs, code := runStint(t, "", append([]string{"status", "--cluster", url}, strings.Fields(args)...)...); code != 1 || errs == "" {
			t.Errorf("%s: exit status %d, messages %q; want 1", args, code, errs)
		}
	}
	for _, args := range []string{"--tls-cert missing.pem --tls-key key.pem", "--tls-cert a --tls-key key.pem"} {
		if _, errs, code := runStint(t, "", append([]string{"serve", "--listen", "127.0.0.1:0"}, strings.Fields(args)...)...); code != 1 || errs == "" {
			t.Errorf("%s: exit status %d, messages %q; want 1", args, code, errs)
		}
	}
}

// certify makes a self-signed certificate for this machine, in a directory.
func certify(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	testfiles.Write(t, filepath.Join(dir, "cert.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})))
	testfiles.Write(t, filepath.Join(dir, "key.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
}

// impostor listens where a server was, and returns what clients have sent to it. With a
// certificate it is as good as that server, but for the token.
func impostor(t *testing.T, address string, config *tls.Config) (sent *syncBuilder, seen chan struct{}, end func()) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	must(t, err)
	sent, seen = new(syncBuilder), make(chan struct{}, 1000)
	var open sync.WaitGroup
	open.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprintf(c, "INFO {\"server_id\":\"x\",\"version\":\"2.15.2\",\"proto\":1,\"max_payload\":1048576,\"headers\":true,\"auth_required\":true,\"tls_required\":%v}\r\n", config != nil)
			if config != nil {
				c = tls.Server(c, config)
			}
			_ = c.SetReadDeadline(time.Now().Add(time.Second)) // a client that believes it waits for an answer
			_, _ = io.Copy(sent, c)
			c.Close()
			seen <- struct{}{}
		}
	})
	end = func() { l.Close(); open.Wait() }
	t.Cleanup(end)
	return sent, seen, end
}

// TestOtherServer has other programs listen at the address of a server that is away: they are
// told nothing, and the worker is there for the next server of this user.
func TestOtherServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certify(t, dir)
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	must(t, err)
	for what, config := range map[string]*tls.Config{"without TLS": nil, "with TLS": {Certificates: []tls.Certificate{pair}}} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			url, b := serve(t, "--listen", freeAddress(t))
			address := strings.TrimPrefix(url, "nats://")
			w := worker(t, "--cluster", url)
			path := tokenPath(t, address[len("127.0.0.1:"):])
			token, err := os.ReadFile(path)
			must(t, err)
			b.end(0)
			sent, seen, end := impostor(t, address, config)
			<-seen // the worker
			<-seen
			testfiles.Write(t, path, string(token)) // as a server leaves it that is killed
			<-seen
			for _, command := range []string{"status", "work"} {
				_, errs, code := runStint(t, "", command, "--cluster", url)
				if code != 1 || !strings.Contains(errs, path) || !strings.Contains(errs, "--tls-ca") || strings.Contains(errs, "waiting") {
					t.Errorf("%s: exit status %d, messages %q; want 1, the file and what to do", command, code, errs)
				}
			}
			if sent.String() != "" {
				t.Errorf("clients sent %q; want nothing", sent)
			}
			end()
			b = begin(t, false, "serve", "--listen", address)
			b.line()
			until(t, url, "the worker is back", func(s *cluster.Status) bool { return len(s.Workers) == 1 })
			w.end(0)
			b.end(0)
		})
	}
}

// TestUsers runs a server with users of all roles.
func TestUsers(t *testing.T) {
	t.Parallel()
	users := file(t, "# comment\n\nsubmitter sue s3cret\n  worker\twill w0rk\nobserver olga 0bserve\nall anna s3cret\n")
	if runtime.GOOS != "windows" {
		must(t, os.Chmod(users, 0o644))
		wantRun(t, 1, "", "0600", "serve", "--listen", "127.0.0.1:0", "--users", users)
	}
	must(t, os.Chmod(users, 0o600))
	url, _ := serve(t, "--users", users)
	as := func(who string) string { return withSecret(url, who) }
	sue, will, olga := as("sue:s3cret"), as("will:w0rk"), as("olga:0bserve")
	worker(t, "--cluster", will)
	a := file(t, "a\n")
	var all sync.WaitGroup // a server that refuses says so after a while
	for _, test := range []struct {
		args string
		code int
	}{
		{"sum " + a + " --cluster " + sue, 0}, {"status --cluster " + sue, 0}, {"status --cluster " + will, 0}, {"status --cluster " + olga, 0},
		{"sum " + a + " --cluster " + will, 1}, {"sum " + a + " --cluster " + olga, 1}, {"work --cluster " + sue, 1}, {"work --cluster " + olga, 1},
		{"status --cluster " + url, 1}, {"status --cluster " + as("sue:w0rk"), 1},
	} {
		all.Go(func() {
			_, errs, code := runStint(t, "", strings.Fields(test.args)...)
			if code != test.code || (errs == "") != (code == 0) || strings.Contains(errs, "s3cret") || strings.Contains(errs, "w0rk") {
				t.Errorf("%s: exit status %d, messages %q; want %d", test.args, code, errs, test.code)
			}
		})
	}
	all.Wait()
	wantRun(t, 0, `"deadLetters": [],`, "", "status", "--json", "--cluster", olga)
	put(t, as("anna:s3cret"), "stint.dead.run.1", "{}")
	wantRun(t, 0, "\n1 dead letters, not shown to this user\n", "", "status", "--cluster", olga)
	wantRun(t, 0, `"deadLetters": null,`, "", "status", "--json", "--cluster", olga)
	wantRun(t, 0, `"deadLetters": [`+"\n", "", "status", "--json", "--cluster", will)
	for text, want := range map[string]string{"worker will": "line 1: want a role", "\nking k k": `role "king"`, "": "nobody"} {
		wrong := file(t, text)
		must(t, os.Chmod(wrong, 0o600))
		if _, errs, code := runStint(t, "", "serve", "--listen", ":0", "--users", wrong); code != 1 || !strings.Contains(errs, want) {
			t.Errorf("%q: exit status %d, messages %q; want 1 and %q", text, code, errs, want)
		}
	}
}

// TestMetrics reads the metrics of servers with each kind of secret, which is not in them.
func TestMetrics(t *testing.T) {
	testfiles.Dir(t, "users", "all ann s3cret\n")
	must(t, os.Chmod("users", 0o600))
	t.Setenv(server.TokenVariable, "s3cret")
	for who, args := range map[string][]string{"s3cret": nil, "ann:s3cret": {"--users", "users"}} {
		address := freeAddress(t)
		cmd := spawn(t, false, "stint", append([]string{"serve", "--listen", "127.0.0.1:0", "--metrics", address}, args...)...)
		connect(t, withSecret(cmd.line(), who))
		for path, want := range map[string]string{
			"healthz": `"ok"`, "": "", "varz": "", "connz?auth=1": "", "subsz?subs=1": "", "jsz?config=1&streams=1&consumers=1": "", "accountz?acc=$G": "", "debug/vars": "", "stacksz": "",
		} {
			response, err := http.Get("http://" + address + "/" + path)
			must(t, err)
			text, err := io.ReadAll(response.Body)
			response.Body.Close()
			if err != nil || response.StatusCode != http.StatusOK || len(text) == 0 || !strings.Contains(string(text), want) || strings.Contains(string(text), "s3cret") {
				t.Errorf("%s: %s, %v: %s; want no secret", path, response.Status, err, text)
			}
		}
		wantRun(t, 1, "", "in use", "serve", "--listen", "127.0.0.1:0", "--metrics", address)
	}
}

// TestServerThatFails renames the directory of a running server.
func TestServerThatFails(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "queue")
	url, b := serve(t, "--dir", dir)
	wantRun(t, 1, "", "another server uses this directory", "serve", "--listen", "127.0.0.1:0", "--dir", dir)
	if err := os.Rename(dir, dir+" elsewhere"); err != nil {
		t.Skipf("a directory in use cannot be renamed here: %v", err)
	}
	<-b.done
	if errs := b.errs.String(); b.status != 1 || !strings.HasSuffix(errs, "the directory of the server was removed or replaced\n") {
		t.Errorf("exit status %d, messages %q; want 1 and why", b.status, errs)
	}
	wantRun(t, 1, "", "stint: ", "status", "--cluster", url)
}
