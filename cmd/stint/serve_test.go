package main

import (
	"bufio"
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

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
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
		path := tokenPaths(address[len("127.0.0.1:"):])[0]
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

// TestUsers has a server with users of three roles.
func TestUsers(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a", "a\n")
	write(t, "users", "# who may what\n\nsubmitter sue s3cret\n  worker\twill w0rk\nobserver olga 0bserve\n")
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
