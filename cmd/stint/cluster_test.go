package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-go/stint/cluster"
)

// A background is a command that runs until it is interrupted.
type background struct {
	t     *testing.T
	first chan string // the first line of the stream that says it is ready; closed without one
	end   context.CancelFunc
	done  chan struct{}

	status int
	errs   syncBuilder
}

// syncBuilder is a strings.Builder for several goroutines.
type syncBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuilder) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuilder) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// begin runs a command line in this process, until the end of the test at the latest.
// Its first line is of standard output, or of messages.
func begin(t *testing.T, messages bool, args ...string) *background {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	b := &background{t: t, first: make(chan string, 1), end: cancel, done: make(chan struct{})}
	out, errs := io.Writer(w), io.Writer(&b.errs)
	if messages {
		out, errs = io.Discard, io.MultiWriter(&b.errs, w)
	}
	go func() {
		defer close(b.done)
		b.status = run(ctx, args, strings.NewReader(""), out, errs)
		w.Close()
	}()
	go func() {
		defer close(b.first)
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			if !strings.HasPrefix(lines.Text(), "stint: msg=") && len(b.first) == 0 { // not a report of the library
				b.first <- lines.Text()
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-b.done
	})
	return b
}

// line is the first line, without its end.
func (b *background) line() string {
	b.t.Helper()
	line, ok := <-b.first
	if !ok {
		b.t.Fatalf("no line; messages %q", &b.errs)
	}
	return line
}

// ended interrupts it, and wants an exit status.
func (b *background) ended(want int) {
	b.t.Helper()
	b.end()
	<-b.done
	if b.status != want {
		b.t.Errorf("exit status %d, want %d; messages %q", b.status, want, &b.errs)
	}
}

// serve runs a server, and returns its URL.
func serve(t *testing.T, args ...string) (url string, server *background) {
	t.Helper()
	server = begin(t, false, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	return server.line(), server
}

// worker runs a worker, which is ready.
func worker(t *testing.T, args ...string) *background {
	t.Helper()
	b := begin(t, true, append([]string{"work"}, args...)...)
	if line := b.line(); !strings.HasPrefix(line, "stint: working for ") {
		t.Fatalf("a worker says %q, want that it works", line)
	}
	return b
}

// state is what status says of the server at url.
func state(t *testing.T, url string) *cluster.Status {
	t.Helper()
	out, errs, code := runStint(t, "", "status", "--json", "--cluster", url)
	s := new(cluster.Status)
	if err := json.Unmarshal([]byte(out), s); code != 0 || err != nil {
		t.Fatalf("status: exit status %d, messages %q, %v", code, errs, err)
	}
	return s
}

// until asks for the state of a server until it is as wanted.
func until(t *testing.T, url, what string, wanted func(*cluster.Status) bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		s := state(t, url)
		if wanted(s) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after 20 s, no state in which %s: %+v", what, s)
		}
	}
}

// same wants that a command line does the same with workers as without, by bytes.
func same(t *testing.T, url, stdin string, args ...string) {
	t.Helper()
	args = append([]string{"sum"}, args...)
	wantOut, wantErrs, want := runStint(t, stdin, args...)
	out, errs, got := runStint(t, stdin, append(args, "--cluster", url)...)
	if out != wantOut {
		t.Errorf("%q: output %s", args, difference(out, wantOut))
	}
	if errs != wantErrs || got != want {
		t.Errorf("%q: exit status %d, messages:\n%swant %d:\n%s", args, got, errs, want, wantErrs)
	}
}

// grow makes a directory with files of all kinds.
func grow(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for i := range 300 {
		dir := fmt.Sprintf("tree/%d", i%7)
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, fmt.Sprintf("%s/%d", dir, i), strings.Repeat("x", i*i))
	}
	for _, name := range []string{"new\nline", "back\\slash", "not\xffUTF-8", "-", "sp ace"} {
		write(t, "tree/"+name, name)
	}
	for _, link := range [][2]string{{"6", "tree/twice"}, {".", "tree/5/loop"}, {"nowhere", "tree/dangling"}, {"itself", "itself"}} {
		if err := os.Symlink(link[0], link[1]); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	if err := exec.Command("mkfifo", "tree/pipe").Run(); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	write(t, "unreadable", "secret\n")
	if err := os.Chmod("unreadable", 0); err != nil { // not for root
		t.Fatal(err)
	}
	write(t, "names", "tree/3\nmissing\n\ntree/new\n")
	out, _, _ := runStint(t, "", "sum", "tree", "names")
	missing := strings.Repeat("0", 64) + "  "
	for _, name := range []string{"missing", "tree", "itself", "names/below", "unreadable", strings.Repeat("n", 300), "/proc/self/mem"} {
		out += missing + name + "\n"
	}
	write(t, "list", out+missing+"names\n")
	write(t, "bad", "no checksum\n"+out)
	write(t, "tagged", "MD5 (names) = 900150983cd24fb0d6963f7d28e17f72\n")
}

// TestSumOnCluster has two workers do what this process does alone.
func TestSumOnCluster(t *testing.T) {
	grow(t)
	url, _ := serve(t)
	worker(t, "--cluster", url, "-j", "2")
	worker(t, "--cluster", url)
	for _, args := range []string{
		"tree", "-a md5 tree missing names", "--json tree missing names", "-z tree", "--tag -a sha1 tree", "-b names", "-j 1 tree", "-j 3 tree",
		"--follow tree", "--files-from names", "tree/3/../3/3", "names/", "./names tree/new", "itself unreadable", "tree/-", "--progress always names",
		"-c list", "-c list bad", "-c --ignore-missing list", "-c --quiet list", "-c --status list", "-c --strict -w bad", "-c missing list", "-c tagged", "-c -a md5 bad",
	} {
		if strings.Contains(args, "progress") {
			continue // the rate differs
		}
		same(t, url, "", strings.Fields(args)...)
	}
	same(t, url, "names\ntree/3\nmissing\n", "--files-from", "-")
	same(t, url, "", "missing", "")
	list, err := os.ReadFile("list")
	if err != nil {
		t.Fatal(err)
	}
	same(t, url, string(list), "-c")
	for _, r := range state(t, url).Runs {
		t.Errorf("left on the server: %+v", r)
	}
}

// TestSumOnClusterOutput writes the file of -o.
func TestSumOnClusterOutput(t *testing.T) {
	grow(t)
	url, _ := serve(t)
	worker(t, "--cluster", url)
	want, _, _ := runStint(t, "", "sum", "tree")
	_, errs, code := runStint(t, "", "sum", "-o", "tree/SUMS", "--progress=always", "tree", "--cluster", url)
	got, err := os.ReadFile("tree/SUMS")
	if string(got) != want || err != nil || code != 0 {
		t.Errorf("exit status %d, messages %q, %v; the file: %s", code, errs, err, difference(string(got), want))
	}
	if !strings.Contains(errs, "stint: tree/pipe: skipped: named pipe\n") || !strings.Contains(errs, "306/306 files") {
		t.Errorf("messages %q, want one on the pipe, and all files in the last line", errs)
	}
}

// TestSumOnClusterCannot wants an error for each file that workers do not have, and
// the digests of the others.
func TestSumOnClusterCannot(t *testing.T) {
	grow(t)
	url, _ := serve(t)
	worker(t, "--cluster", url)
	write(t, "pipes", strings.Repeat("0", 64)+"  tree/pipe\n"+strings.Repeat("0", 64)+"  -\n")
	digest, _, _ := runStint(t, "", "sum", "names")
	for _, test := range []struct{ args, out, errs string }{
		{"- names -", digest, "stint: -: standard input: workers cannot read it\nstint: -: standard input: workers cannot read it\n"},
		{"", "", "stint: -: standard input: workers cannot read it\n"},
		{"tree/pipe names /dev/null", digest, "stint: tree/pipe: not a regular file: workers cannot read it\nstint: /dev/null: not a regular file: workers cannot read it\n"},
		{"-c pipes", "tree/pipe: FAILED open or read\n-: FAILED open or read\n", "stint: tree/pipe: not a regular file: workers cannot read it\nstint: -: standard input: workers cannot read it\nstint: WARNING: 2 listed files could not be read\n"},
	} {
		out, errs, code := runStint(t, "input\n", append([]string{"sum", "--cluster", url}, strings.Fields(test.args)...)...)
		if out != test.out || errs != test.errs || code != 1 {
			t.Errorf("%s: exit status %d, output %q, messages %q; want 1, %q, %q", test.args, code, out, errs, test.out, test.errs)
		}
	}
}

// TestWorkerRefuses gives a worker what no command of this version asks.
func TestWorkerRefuses(t *testing.T) {
	d := newDigester(nil)
	for _, q := range []question{{[]byte("/etc/passwd"), "crc32"}, {[]byte("relative"), "md5"}} {
		if got, err := d.answer(t.Context(), q); err == nil {
			t.Errorf("%q: %+v, want an error", q, got)
		}
	}
	alg, _ := algorithmByName("md5")
	r := result{alg: alg}
	if r.answered(&answer{Digest: make([]byte, alg.size-1)}, nil); r.err == nil {
		t.Error("a digest that is too short is taken")
	}
}

// TestWorkerKilled kills a worker that has files. The other one gets them when the
// lease has ended.
func TestWorkerKilled(t *testing.T) {
	grow(t)
	want, _, _ := runStint(t, "", "sum", "tree")
	url, _ := serve(t)
	cmd := exec.Command("stint", "work", "-j", "4", "--cluster", url)
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	if line, _ := bufio.NewReader(errs).ReadString('\n'); !strings.HasPrefix(line, "stint: working for ") {
		t.Fatalf("the worker says %q", line)
	}
	until(t, url, "the worker is there", func(s *cluster.Status) bool { return len(s.Workers) == 1 })
	pause(t, cmd.Process) // so that it has files, and none is finished
	var out, messages strings.Builder
	done := make(chan int)
	go func() {
		done <- run(t.Context(), []string{"sum", "tree", "--cluster", url}, strings.NewReader(""), &out, &messages)
	}()
	until(t, url, "the worker has files", func(s *cluster.Status) bool { return len(s.Tasks) == 1 && s.Tasks[0].InFlight > 0 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	worker(t, "--cluster", url)
	if code := <-done; code != 0 || out.String() != want {
		t.Errorf("exit status %d, messages %q, output %s", code, &messages, difference(out.String(), want))
	}
}

// TestWorkerInterrupted wants that a worker ends well, also while the server is away.
func TestWorkerInterrupted(t *testing.T) {
	url, server := serve(t)
	b := worker(t, "--cluster", url)
	b.ended(0)
	if !strings.HasSuffix(b.errs.String(), "stint: finishing what was begun; a second interrupt ends it at once\n") {
		t.Errorf("messages %q, want one that it is about to end", &b.errs)
	}
	until(t, url, "the worker is gone", func(s *cluster.Status) bool { return len(s.Workers) == 0 })
	b = worker(t, "--cluster", url)
	server.ended(0)
	b.ended(0)
}

// TestWorkerFinishes interrupts the only worker in the middle of a file. Nobody else
// could finish it, so it must not lose its lease, as it may on a busy machine if that is short.
func TestWorkerFinishes(t *testing.T) {
	before := lease
	lease = time.Minute
	t.Cleanup(func() { lease = before })
	t.Chdir(t.TempDir())
	write(t, "large", "")
	if err := os.Truncate("large", 1<<30); err != nil {
		t.Skipf("no large files here: %v", err)
	}
	url, _ := serve(t)
	b := worker(t, "--cluster", url)
	sum := begin(t, false, "sum", "-a", "md5", "large", "--cluster", url)
	until(t, url, "the worker has the file", func(s *cluster.Status) bool {
		return len(s.Workers) == 1 && s.Workers[0].Running+int(s.Workers[0].Done) == 1
	})
	b.ended(0)
	if line := sum.line(); line != "cd573cfaace07e7949bc0c46028904ff  large" {
		t.Errorf("the digest is %q", line)
	}
	<-sum.done
	sum.ended(0)
}

// TestNoWorker wants a message while there is none, and the digests when there is one.
func TestNoWorker(t *testing.T) {
	before := lookEvery
	lookEvery = 50 * time.Millisecond
	t.Cleanup(func() { lookEvery = before })
	grow(t)
	url, _ := serve(t)
	want, _, _ := runStint(t, "", "sum", "tree/3")
	b := begin(t, true, "sum", "tree/3", "--cluster", url, "-o", "SUMS")
	if line := b.line(); line != "stint: no worker has answered yet; waiting for one, as started by 'stint work'" {
		t.Errorf("message %q, want that there is no worker", line)
	}
	lookEvery = before // of the next sum; this one has looked
	worker(t, "--cluster", url)
	<-b.done
	if got, err := os.ReadFile("SUMS"); b.status != 0 || string(got) != want {
		t.Errorf("exit status %d, messages %q, %v, %s", b.status, &b.errs, err, difference(string(got), want))
	}
	if n := strings.Count(b.errs.String(), "\n"); n != 1 {
		t.Errorf("%d messages, want 1: %q", n, &b.errs)
	}
}

// TestSumOnClusterInterrupted wants nothing left of a run that was interrupted.
func TestSumOnClusterInterrupted(t *testing.T) {
	grow(t)
	url, _ := serve(t)
	b := begin(t, true, "sum", "tree", "--cluster", url, "-j", "7", "-o", "SUMS")
	until(t, url, "all is queued", func(s *cluster.Status) bool { return len(s.Runs) == 1 && s.Runs[0].Waiting == 306 })
	out, _, _ := runStint(t, "", "status", "--cluster", url)
	for _, want := range []string{"digest/v1", "RUN ", "STARTED", "REDELIVERED", "no workers", " 306"} {
		if !strings.Contains(out, want) {
			t.Errorf("status does not have %q:\n%s", want, out)
		}
	}
	b.ended(130)
	if s := state(t, url); len(s.Runs) != 0 || len(s.Tasks) == 1 && s.Tasks[0].Queued+s.Tasks[0].InFlight > 0 {
		t.Errorf("left on the server: %+v", s)
	}
	if _, err := os.Stat("SUMS"); err == nil || b.errs.String() != "stint: tree/pipe: skipped: named pipe\n" && b.errs.String() != "" {
		t.Errorf("the output: %v, want none; messages %q", err, &b.errs)
	}
}

// TestServerRestarted stops a server with a directory while it has a run.
func TestServerRestarted(t *testing.T) {
	grow(t)
	want, _, _ := runStint(t, "", "sum", "tree")
	dir := filepath.Join(t.TempDir(), "server")
	url, server := serve(t, "--dir", dir)
	if _, errs, code := runStint(t, "", "serve", "--listen", "127.0.0.1:0", "--dir", dir); code != 1 || !strings.Contains(errs, "another server uses this directory") {
		t.Errorf("a second server: exit status %d, messages %q; want 1, and that there is another", code, errs)
	}
	sum := begin(t, true, "sum", "tree", "--cluster", url, "-o", "SUMS")
	until(t, url, "all is queued", func(s *cluster.Status) bool { return len(s.Runs) == 1 && s.Runs[0].Waiting == 306 })
	server.ended(0)
	again := begin(t, false, "serve", "--listen", strings.TrimPrefix(url, "nats://"), "--dir", dir)
	if line := again.line(); line != url {
		t.Fatalf("the server says %q, want %q", line, url)
	}
	worker(t, "--cluster", url)
	<-sum.done
	if got, err := os.ReadFile("SUMS"); sum.status != 0 || string(got) != want {
		t.Errorf("exit status %d, messages %q, %v, %s", sum.status, &sum.errs, err, difference(string(got), want))
	}
}

// TestServerAway wants an error that names the server and nothing that is secret.
func TestServerAway(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	for _, args := range []string{"status --cluster", "sum . --cluster"} { // work waits
		for _, secret := range []string{"", "s3cret@", "user:s3cret@"} {
			out, errs, code := runStint(t, "", append(strings.Fields(args), "nats://"+secret+address)...)
			if code != 1 || out != "" || !strings.HasPrefix(errs, "stint: ") || !strings.Contains(errs, "nats://"+address) {
				t.Errorf("%s: exit status %d, output %q, messages %q; want 1 and one with the server", args, code, out, errs)
			}
			if strings.Contains(errs, "s3cret") || strings.Contains(errs, "--help") {
				t.Errorf("%s: messages %q, want no secret and no advice to look at the help", args, errs)
			}
		}
	}
}

// TestToken wants in with the right one only.
func TestToken(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a", "a\n")
	url, _ := serve(t, "--token", "s3cret")
	if strings.Contains(url, "s3cret") {
		t.Errorf("the server prints %q, with the token", url)
	}
	with := strings.Replace(url, "//", "//s3cret@", 1)
	worker(t, "--cluster", with)
	for _, test := range []struct {
		token, url string
		code       int
	}{
		{"", url, 1}, {"wrong", url, 1}, {"", strings.Replace(url, "//", "//wr0ng@", 1), 1},
		{"s3cret", url, 0}, {"", with, 0}, {"wrong", with, 0},
	} {
		t.Setenv(tokenVariable, test.token)
		_, errs, code := runStint(t, "", "sum", "a", "--cluster", test.url)
		if code != test.code || (errs == "") != (code == 0) || strings.Contains(errs, "wr0ng") {
			t.Errorf("%+v: exit status %d, messages %q", test, code, errs)
		}
		t.Setenv(clusterVariable, test.url)
		if _, errs, code := runStint(t, "", "status"); code != test.code {
			t.Errorf("%+v: exit status %d of status, messages %q", test, code, errs)
		}
	}
	t.Setenv(tokenVariable, "other")
	url, _ = serve(t)
	if _, errs, code := runStint(t, "", "status", "--cluster", url); code != 0 {
		t.Errorf("a token from the environment of the server: exit status %d, messages %q", code, errs)
	}
	if _, errs, code := runStint(t, "", "status", "--cluster", strings.Replace(url, "//", "//no@", 1)); code != 1 {
		t.Errorf("another token than that of the environment: exit status %d, messages %q", code, errs)
	}
}

// TestTLS wants in with the certificate authority only.
func TestTLS(t *testing.T) {
	t.Chdir(t.TempDir())
	certify(t)
	write(t, "a", "a\n")
	url, _ := serve(t, "--tls-cert", "cert.pem", "--tls-key", "key.pem")
	if !strings.HasPrefix(url, "tls://") {
		t.Errorf("the server prints %q, want tls://", url)
	}
	worker(t, "--cluster", url, "--tls-ca", "cert.pem")
	if _, errs, code := runStint(t, "", "sum", "a", "--cluster", url, "--tls-ca", "cert.pem"); code != 0 {
		t.Errorf("exit status %d, messages %q", code, errs)
	}
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

// certify makes a certificate of its own authority, for this machine.
func certify(t *testing.T) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, "cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})))
	write(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
}

// TestServeErrors are of a server that cannot begin, or cannot say that it has.
func TestServeErrors(t *testing.T) {
	url, _ := serve(t)
	_, errs, code := runStint(t, "", "serve", "--listen", strings.TrimPrefix(url, "nats://"))
	if code != 1 || !strings.Contains(errs, "in use") {
		t.Errorf("an address that is in use: exit status %d, messages %q; want 1", code, errs)
	}
	var messages bytes.Buffer
	if code := run(t.Context(), []string{"serve", "--listen", "127.0.0.1:0"}, strings.NewReader(""), failing{io.ErrShortWrite}, &messages); code != 1 || messages.String() != "stint: write error: short write\n" {
		t.Errorf("no output: exit status %d, messages %q; want 1 and the write error", code, &messages)
	}
}

// TestPublic wants URLs without secrets.
func TestPublic(t *testing.T) {
	for in, want := range map[string]string{
		"nats://h:1": "nats://h:1", "nats://t@h:1": "nats://h:1", "tls://u:p@h": "tls://h", "t@h:1": "h:1",
		"nats://u:p@q@h:1": "nats://h:1", "u:p@a:1,nats://u:p@b,c": "a:1,nats://b,c",
	} {
		c := &connection{url: in}
		if got := c.public(); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if err := c.failed(fmt.Errorf("connect to %s: refused", in)); err.Error() != "connect to "+want+": refused" {
			t.Errorf("%q: %q, want nothing secret", in, err)
		}
	}
}

// TestOneLine keeps what others say in its cell.
func TestOneLine(t *testing.T) {
	s := &cluster.Status{Aside: []cluster.Aside{}, Workers: []cluster.WorkerStatus{{ID: "a", Host: "evil\nno runs\x1b[1m"}}}
	var out strings.Builder
	if err := printStatus(&out, s); err != nil || strings.Count(out.String(), "\n") != 6 || strings.Contains(out.String(), "\x1b") {
		t.Errorf("%v, want six lines and no escape sequence:\n%q", err, &out)
	}
}
