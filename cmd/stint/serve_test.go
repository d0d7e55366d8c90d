package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint/cluster"
)

// free returns an address of this machine that nobody listens at.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestWorkWaits starts a worker before its server, and the server again with another token.
func TestWorkWaits(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a", "a\n")
	address := free(t)
	url := "nats://" + address
	b := begin(t, true, "work", "--cluster", "nats://"+strings.Replace(address, "127.0.0.1", "localhost", 1))
	if line := b.line(); line != "stint: waiting for a server at nats://localhost:"+address[len("127.0.0.1:"):] {
		t.Errorf("the worker says %q", line)
	}
	for range 2 {
		server := begin(t, false, "serve", "--listen", address)
		if line := server.line(); line != url {
			t.Fatalf("the server says %q", line)
		}
		if _, errs, code := runStint(t, "", "sum", "a", "--cluster", url); code != 0 {
			t.Errorf("exit status %d, messages %q", code, errs)
		}
		server.ended(0)
	}
	b.ended(0)
	if n := strings.Count(b.errs.String(), "waiting for"); n != 1 {
		t.Errorf("it says %d times that it waits: %q", n, &b.errs)
	}
}

// TestWorkWaitsForWhatIsNoServer has a name that nobody knows, and ports where something
// listens that is no server yet.
func TestWorkWaitsForWhatIsNoServer(t *testing.T) {
	ca := filepath.Join(t.TempDir(), "cert.pem")
	t.Chdir(filepath.Dir(ca))
	certify(t)
	for what, start := range map[string]string{"closes": "", "closes after its greeting": "INFO {}\r\n", "is none": "HTTP/1.1 502\r\n\r\n", "closes the handshake": "INFO {\"tls_required\":true}\r\n"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(c, start)
				c.Close()
			}
		}()
		b := begin(t, true, "work", "--cluster", "nats://"+l.Addr().String())
		if line := b.line(); !strings.HasPrefix(line, "stint: waiting for a server at nats://"+l.Addr().String()+": ") {
			t.Errorf("with a port that %s, the worker says %q", what, line)
		}
		b.ended(130)
	}
	for _, url := range []string{"nats://no.such.host.invalid:4222", "ws://no.such.host.invalid:4222"} {
		b := begin(t, true, "work", "--cluster", url)
		if line := b.line(); !strings.HasPrefix(line, "stint: waiting for a server at "+url+": ") {
			t.Errorf("with a name that nobody knows, the worker says %q", line)
		}
		b.ended(130)
	}
}

// TestLasting has the errors that end a worker, and those that it waits for.
func TestLasting(t *testing.T) {
	refused := &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	for err, want := range map[error]bool{
		nats.ErrNoServers: false, nats.ErrTimeout: false, nats.ErrNoInfoReceived: false, io.EOF: false, refused: false, nats.ErrMaxConnectionsExceeded: false,
		&net.DNSError{}: false, fmt.Errorf("%w: %w", nats.ErrTLS, io.EOF): false, fmt.Errorf("%w: %w", nats.ErrTLS, refused): false,
		fmt.Errorf("%w: %w", nats.ErrTLS, x509.UnknownAuthorityError{}): true, fmt.Errorf("%w: %w", nats.ErrTLS, &net.OpError{Err: tls.AlertError(42)}): true,
		fmt.Errorf("a: %w", nats.ErrAuthorization): true, jetstream.ErrJetStreamNotEnabled: true, cluster.ErrFull: true, nats.ErrPermissionViolation: true,
	} {
		if got := lasting(err); got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}

// TestWorkWaitsUntilTold ends a worker that has met no server.
func TestWorkWaitsUntilTold(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGTERM here")
	}
	cmd := exec.Command("stint", "work", "--cluster", "nats://"+free(t))
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, _ := bufio.NewReader(errs).ReadString('\n'); !strings.HasPrefix(line, "stint: waiting for a server at ") {
		t.Errorf("the worker says %q", line)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 143 {
		t.Errorf("exit status %d, want 143", code)
	}
}

// TestWorkDoesNotWait wants an error at once for what waiting does not mend.
func TestWorkDoesNotWait(t *testing.T) {
	t.Chdir(t.TempDir())
	certify(t)
	secure, _ := serve(t, "--tls-cert", "cert.pem", "--tls-key", "key.pem")
	locked, _ := serve(t, "--token", "s3cret")
	for _, args := range [][]string{
		{"--cluster", secure},
		{"--cluster", locked},
		{"--cluster", strings.Replace(locked, "//", "//wr0ng@", 1)},
		{"--cluster", locked, "--tls-ca", "cert.pem"},
		{"--cluster", locked, "--credentials", "missing"},
		{"--cluster", "nats://" + free(t), "--credentials", "key.pem"},
		{"--cluster", "nats://" + free(t), "--tls-ca", "missing"},
		{"--cluster", "nats://" + free(t) + ",ws://127.0.0.1:1"},
		{"--cluster", locked, "--tls-ca", "key.pem"},
	} {
		_, errs, code := runStint(t, "", append([]string{"work"}, args...)...)
		if code != 1 || strings.Contains(errs, "waiting") || strings.Contains(errs, "wr0ng") {
			t.Errorf("%q: exit status %d, messages %q; want 1 and no wait", args, code, errs)
		}
	}
}

// TestTokenFile looks at the file with the token of a server that was given none.
func TestTokenFile(t *testing.T) {
	for _, where := range []string{"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"} {
		dir := filepath.Join(t.TempDir(), "home")
		t.Setenv("XDG_RUNTIME_DIR", "")
		t.Setenv("XDG_CONFIG_HOME", "") // the directory for settings, on some systems
		t.Setenv(where, dir)
		t.Setenv("HOME", dir)
		t.Setenv("AppData", dir)
		address := free(t)
		path := tokenPaths("127.0.0.1", address[len("127.0.0.1:"):])[0]
		if where == "XDG_RUNTIME_DIR" { // where the other is, the directory is not there yet
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, path, "of a server that was killed")
		}
		server := begin(t, false, "serve", "--listen", address)
		url := server.line()
		for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
			if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v; want mode %v", name, info, err, want)
			}
		}
		if _, errs, code := runStint(t, "", "serve", "--listen", address); code != 1 || !strings.Contains(errs, "in use") {
			t.Errorf("a second server: exit status %d, messages %q", code, errs)
		}
		for _, this := range []string{url, strings.TrimPrefix(url, "nats://"), strings.Replace(url, "127.0.0.1", "localhost", 1)} {
			if _, errs, code := runStint(t, "", "status", "--cluster", this); code != 0 {
				t.Errorf("%s: exit status %d, messages %q", this, code, errs)
			}
		}
		t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
		t.Setenv("XDG_CONFIG_HOME", t.TempDir())
		t.Setenv("HOME", t.TempDir())
		t.Setenv("AppData", t.TempDir())
		if _, errs, code := runStint(t, "", "status", "--cluster", url); code != 1 || !strings.Contains(errs, "Authorization") {
			t.Errorf("another user: exit status %d, messages %q", code, errs)
		}
		server.ended(0)
		if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}

// TestTokenFileIsTheNewest has the file of a killed server where a command looks first.
func TestTokenFileIsTheNewest(t *testing.T) {
	home, runtime := t.TempDir(), t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", "")
	for _, name := range []string{"XDG_CONFIG_HOME", "HOME", "AppData"} {
		t.Setenv(name, home)
	}
	url, _ := serve(t)
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	host, port, _ := (&connection{url: url}).local()
	stale := tokenPaths(host, port)[0]
	if err := os.MkdirAll(filepath.Dir(stale), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, stale, "of a server that was killed")
	if later := time.Now().Add(time.Hour); os.Chtimes(stale, later, later) != nil {
		t.Skip("no times of files here")
	}
	_, errs, code := runStint(t, "", "status", "--cluster", url)
	if want := "(with the token in " + stale + ")\n"; code != 1 || !strings.HasSuffix(errs, want) {
		t.Errorf("the newest file has a wrong token: exit status %d, messages %q; want 1 and which file it is", code, errs)
	}
	if err := os.Chtimes(stale, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	told(t, 0, "no runs", "", "status", "--cluster", url)
}

// TestTokenFileOfEachAddress has two servers at one port.
func TestTokenFileOfEachAddress(t *testing.T) {
	for host, want := range map[string]string{
		"localhost": "token-1", "127.0.0.1": "token-1", "::1": "token-1", "::ffff:127.0.0.1": "token-1",
		"127.0.0.2": "token-127.0.0.2-1", "::ffff:127.0.0.2": "token-127.0.0.2-1",
	} {
		if got := tokenPaths(host, "1"); len(got) == 0 || filepath.Base(got[0]) != want {
			t.Errorf("the files of %s: %q, want %s", host, got, want)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skipf("one address only: %v", err)
	}
	second := l.Addr().String()
	l.Close()
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	for _, address := range []string{strings.Replace(second, "127.0.0.2", "127.0.0.1", 1), second} {
		begin(t, false, "serve", "--listen", address).line()
	}
	for _, address := range []string{strings.Replace(second, "127.0.0.2", "localhost", 1), second} {
		told(t, 0, "no runs", "", "status", "--cluster", address)
	}
}

// TestUsers has a server with users of three roles.
func TestUsers(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a", "a\n")
	write(t, "users", "# who may what\n\nsubmitter sue s3cret\n  worker\twill w0rk\nobserver olga 0bserve\nall anna s3cret\n")
	if runtime.GOOS != "windows" {
		if err := os.Chmod("users", 0o644); err != nil {
			t.Fatal(err)
		}
		if _, errs, code := runStint(t, "", "serve", "--listen", "127.0.0.1:0", "--users", "users"); code != 1 || !strings.Contains(errs, "0600") {
			t.Errorf("a file that others can read: exit status %d, messages %q", code, errs)
		}
	}
	if err := os.Chmod("users", 0o600); err != nil {
		t.Fatal(err)
	}
	url, _ := serve(t, "--users", "users")
	as := func(who string) string { return strings.Replace(url, "//", "//"+who+"@", 1) }
	sue, will, olga := as("sue:s3cret"), as("will:w0rk"), as("olga:0bserve")
	worker(t, "--cluster", will)
	for _, test := range []struct {
		args string
		code int
	}{
		{"sum a --cluster " + sue, 0}, {"status --cluster " + sue, 0}, {"status --cluster " + will, 0}, {"status --cluster " + olga, 0},
		{"sum a --cluster " + will, 1}, {"sum a --cluster " + olga, 1}, {"work --cluster " + sue, 1}, {"work --cluster " + olga, 1},
		{"status --cluster " + url, 1}, {"status --cluster " + as("sue:w0rk"), 1},
	} {
		_, errs, code := runStint(t, "", strings.Fields(test.args)...)
		if code != test.code || (errs == "") != (code == 0) || strings.Contains(errs, "s3cret") || strings.Contains(errs, "w0rk") {
			t.Errorf("%s: exit status %d, messages %q; want %d", test.args, code, errs, test.code)
		}
	}
	told(t, 0, `"aside": [],`, "", "status", "--json", "--cluster", olga)
	put(t, as("anna:s3cret"), "stint.aside.run.1", "{}")
	told(t, 0, "\nwhat was put aside is not shown to this user\n", "", "status", "--cluster", olga)
	told(t, 0, `"aside": null,`, "", "status", "--json", "--cluster", olga)
	told(t, 0, `"aside": [`+"\n", "", "status", "--json", "--cluster", will)
	for text, want := range map[string]string{"worker will": "line 1: want a role", "\nking k k": `role "king"`, "": "nobody"} {
		write(t, "wrong", text)
		if err := os.Chmod("wrong", 0o600); err != nil {
			t.Fatal(err)
		}
		if _, errs, code := runStint(t, "", "serve", "--listen", ":0", "--users", "wrong"); code != 1 || !strings.Contains(errs, want) {
			t.Errorf("%q: exit status %d, messages %q; want 1 and %q", text, code, errs, want)
		}
	}
}

// TestMetrics asks a server for what it counts.
func TestMetrics(t *testing.T) {
	address := free(t)
	serve(t, "--metrics", address)
	answer, err := http.Get("http://" + address + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(text), `"ok"`) {
		t.Errorf("healthz: %s, %v", text, err)
	}
	if _, errs, code := runStint(t, "", "serve", "--listen", "127.0.0.1:0", "--metrics", address); code != 1 || !strings.Contains(errs, "in use") {
		t.Errorf("an address that is in use: exit status %d, messages %q; want 1", code, errs)
	}
}

// TestMetricsShowNoSecret asks servers with each kind of secret for what they show.
func TestMetricsShowNoSecret(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "users", "all ann s3cret\n")
	if err := os.Chmod("users", 0o600); err != nil {
		t.Fatal(err)
	}
	for who, args := range map[string][]string{"s3cret": nil, "ann:s3cret": {"--users", "users"}} {
		address := free(t)
		cmd := exec.Command("stint", append([]string{"serve", "--listen", "127.0.0.1:0", "--metrics", address}, args...)...)
		cmd.Env = append(os.Environ(), "STINT_TOKEN=s3cret")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		url, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		nc, err := nats.Connect(strings.Replace(strings.TrimSpace(url), "//", "//"+who+"@", 1))
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		for _, path := range []string{"", "varz", "connz?auth=1", "subsz?subs=1", "jsz?config=1&streams=1&consumers=1", "accountz?acc=$G", "debug/vars", "stacksz"} {
			answer, err := http.Get("http://" + address + "/" + path)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			if err != nil || answer.StatusCode != http.StatusOK || len(text) == 0 || strings.Contains(string(text), "s3cret") {
				t.Errorf("%s: %s, %v: %s; want no secret", path, answer.Status, err, text)
			}
		}
	}
}

// TestStatusOfAFullServer wants an exit status that says it, after all the rest.
func TestStatusOfAFullServer(t *testing.T) {
	cmd := exec.Command("stint", "serve", "--listen", "127.0.0.1:0", "--token", "a")
	cmd.Env = append(os.Environ(), "GOMEMLIMIT=20MiB")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url = strings.Replace(strings.TrimSpace(url), "//", "//a@", 1)
	if s := state(t, url); s.Store != "" {
		t.Errorf("before it is full: %q", s.Store)
	}
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; err == nil; i++ {
		_, err = js.Publish(t.Context(), fmt.Sprint("stint.result.run.", i), make([]byte, 1<<18))
	}
	for _, args := range []string{"", "--json"} {
		out, errs, code := runStint(t, "", append([]string{"status", "--cluster", url}, strings.Fields(args)...)...)
		if code != 1 || !strings.HasSuffix(errs, " stores nothing: insufficient resources\n") || !strings.Contains(out, "runs") {
			t.Errorf("%s: exit status %d, output %q, messages %q; want 1 and that it is full", args, code, out, errs)
		}
		if (args == "--json") != strings.Contains(out, `"store": "insufficient resources"`) {
			t.Errorf("%s: output %q", args, out)
		}
	}
}

// TestServerThatFails takes the directory from under a server.
func TestServerThatFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "queue")
	url, b := serve(t, "--dir", dir)
	if err := os.Rename(dir, dir+" elsewhere"); err != nil {
		t.Skipf("a directory in use cannot be taken away here: %v", err)
	}
	<-b.done
	if errs := b.errs.String(); b.status != 1 || !strings.HasSuffix(errs, "the directory of the server was removed or replaced\n") {
		t.Errorf("exit status %d, messages %q; want 1 and why", b.status, errs)
	}
	if _, _, code := runStint(t, "", "status", "--cluster", url); code != 1 {
		t.Errorf("status of it: exit status %d, want 1", code)
	}
}
