package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/sum"
	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// same runs a command line with and without workers, and wants no difference.
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

// grow makes a directory with files of all types.
func grow(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for i := range 300 {
		dir := fmt.Sprintf("tree/%d", i%7)
		must(t, os.MkdirAll(dir, 0o777))
		testfiles.Write(t, fmt.Sprintf("%s/%d", dir, i), strings.Repeat("x", i*i))
	}
	for _, name := range []string{"new\nline", "back\\slash", "not\xffUTF-8", "-", "sp ace"} {
		testfiles.Write(t, "tree/"+name, name)
	}
	for _, link := range [][2]string{{"6", "tree/twice"}, {".", "tree/5/loop"}, {"nowhere", "tree/dangling"}, {"itself", "itself"}} {
		if err := os.Symlink(link[0], link[1]); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	testfiles.Pipe(t, "tree/pipe")
	testfiles.Write(t, "unreadable", "secret\n")
	if err := os.Chmod("unreadable", 0); err != nil { // not for root
		t.Fatal(err)
	}
	testfiles.Write(t, "names", "tree/3\nmissing\n\ntree/new\n")
	out, _, _ := runStint(t, "", "sum", "tree", "names")
	missing := strings.Repeat("0", 64) + "  "
	for _, name := range []string{"missing", "tree", "itself", "names/below", "unreadable", strings.Repeat("n", 300), "/proc/self/mem"} {
		out += missing + name + "\n"
	}
	testfiles.Write(t, "list", out+missing+"names\n")
	testfiles.Write(t, "bad", "no checksum\n"+out)
	testfiles.Write(t, "tagged", "MD5 (names) = 900150983cd24fb0d6963f7d28e17f72\n")
}

// TestSumOnCluster compares two workers with this process.
func TestSumOnCluster(t *testing.T) {
	grow(t)
	url, _ := serve(t)
	worker(t, "--cluster", url, "-j", "2")
	worker(t, "--cluster", url)
	for _, args := range []string{
		"tree", "-a md5 tree missing names", "--json tree missing names", "-z tree", "--tag -a sha1 tree", "-b names", "-j 1 tree", "-j 3 tree",
		"--follow tree", "--files-from names", "tree/3/../3/3", "names/", "./names tree/new", "itself unreadable", "tree/-",
		"-c list", "-c list bad", "-c --ignore-missing list", "-c --quiet list", "-c --status list", "-c --strict -w bad", "-c missing list", "-c tagged", "-c -a md5 bad",
	} {
		same(t, url, "", strings.Fields(args)...)
	}
	same(t, url, "names\ntree/3\nmissing\n", "--files-from", "-")
	same(t, url, "", "missing", "")
	list, err := os.ReadFile("list")
	must(t, err)
	same(t, url, string(list), "-c")
	for _, r := range state(t, url).Runs {
		t.Errorf("left on the server: %+v", r)
	}
}

// TestSumOnClusterCannot wants an error for each file that workers cannot read, and the
// digests of the others.
func TestSumOnClusterCannot(t *testing.T) {
	grow(t)
	url, _ := serve(t)
	worker(t, "--cluster", url)
	testfiles.Write(t, "pipes", strings.Repeat("0", 64)+"  tree/pipe\n"+strings.Repeat("0", 64)+"  -\n")
	digest, _, _ := runStint(t, "", "sum", "names")
	for _, test := range []struct{ args, out, errs string }{
		{"- names -", digest, "stint: -: not a regular file: workers cannot read it\nstint: -: not a regular file: workers cannot read it\n"},
		{"", "", "stint: -: not a regular file: workers cannot read it\n"},
		{"tree/pipe names /dev/null", digest, "stint: tree/pipe: not a regular file: workers cannot read it\nstint: /dev/null: not a regular file: workers cannot read it\n"},
		{"-c pipes", "tree/pipe: FAILED open or read\n-: FAILED open or read\n", "stint: tree/pipe: not a regular file: workers cannot read it\nstint: -: not a regular file: workers cannot read it\nstint: WARNING: 2 listed files could not be read\n"},
	} {
		out, errs, code := runStint(t, "input\n", append([]string{"sum", "--cluster", url}, strings.Fields(test.args)...)...)
		if out != test.out || errs != test.errs || code != 1 {
			t.Errorf("%s: exit status %d, output %q, messages %q; want 1, %q, %q", test.args, code, out, errs, test.out, test.errs)
		}
	}
}

// TestSumOnClusterInterrupted interrupts a run, and wants nothing left.
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
	b.end(130)
	if s := state(t, url); len(s.Runs) != 0 || len(s.Tasks) == 1 && s.Tasks[0].Queued+s.Tasks[0].InFlight > 0 {
		t.Errorf("left on the server: %+v", s)
	}
	if _, err := os.Stat("SUMS"); err == nil || b.errs.String() != "stint: tree/pipe: skipped: not a regular file\n" && b.errs.String() != "" {
		t.Errorf("the output: %v, want none; messages %q", err, &b.errs)
	}
}

// sumWaits runs sum on the cluster until it prints a message, calls mend, and wants the
// digests and no other message.
func sumWaits(t *testing.T, url string, isMessage func(line string) bool, mend func()) {
	t.Helper()
	want, _, _ := runStint(t, "", "sum", "tree/3")
	b := begin(t, true, "sum", "tree/3", "--cluster", url, "-o", "SUMS")
	if line := b.line(); !isMessage(line) {
		t.Errorf("message %q, want why it waits", line)
	}
	mend()
	<-b.done
	if got, err := os.ReadFile("SUMS"); b.status != 0 || string(got) != want {
		t.Errorf("exit status %d, messages %q, %v, %s", b.status, &b.errs, err, difference(string(got), want))
	}
	if n := strings.Count(b.errs.String(), "\n"); n != 1 {
		t.Errorf("%d messages, want 1: %q", n, &b.errs)
	}
}

// waitsSoon makes sum say soon what it waits for.
func waitsSoon(t *testing.T) {
	t.Helper()
	before := sum.StallInterval
	sum.StallInterval = 50 * time.Millisecond
	t.Cleanup(func() { sum.StallInterval = before })
}

// TestNoWorker runs sum before there is a worker.
func TestNoWorker(t *testing.T) {
	waitsSoon(t)
	grow(t)
	url, _ := serve(t)
	sumWaits(t, url, func(line string) bool {
		return line == "stint: no worker answers; waiting for one: start it with 'stint work'"
	}, func() { worker(t, "--cluster", url) })
}

// natsServer starts a server of others, with some options.
func natsServer(t *testing.T, set func(*natsserver.Options)) (url string) {
	t.Helper()
	o := &natsserver.Options{Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true}
	set(o)
	s, err := natsserver.NewServer(o)
	must(t, err)
	go s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server does not start")
	}
	return s.ClientURL()
}

// full starts a server whose memory is full. empty makes room.
func full(t *testing.T) (url string, empty func()) {
	t.Helper()
	url = natsServer(t, func(o *natsserver.Options) { o.JetStreamMaxMemory = 1 << 20 })
	c, err := cluster.Connect(t.Context(), url, cluster.Memory()) // makes the streams
	must(t, err)
	c.Close()
	js, err := jetstream.New(connect(t, url))
	must(t, err)
	other, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "other", Subjects: []string{"other"}, Storage: jetstream.MemoryStorage})
	for err == nil {
		_, err = js.Publish(t.Context(), "other", make([]byte, 1<<18))
	}
	if api := new(jetstream.APIError); !errors.As(err, &api) {
		t.Fatal(err)
	}
	return url, func() {
		if err := other.Purge(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// TestServerFull runs status and sum while the server is full.
func TestServerFull(t *testing.T) {
	waitsSoon(t)
	grow(t)
	url, empty := full(t)
	worker(t, "--cluster", url)
	for args, want := range map[string]string{"": "no runs\n", "--json": `"store": "insufficient resources"`} {
		wantRun(t, 1, want, " stores nothing: insufficient resources\n", append([]string{"status", "--cluster", url}, strings.Fields(args)...)...)
	}
	sumWaits(t, url, func(line string) bool {
		return line == "stint: the server stores nothing: insufficient resources; waiting for it"
	}, empty)
}

// TestHostileWorker runs a worker that returns text with control characters.
func TestHostileWorker(t *testing.T) {
	testfiles.Dir(t, "a", "a\n", "b", "b\n")
	url, _ := serve(t, "--token", "secret")
	url = withSecret(url, "secret")
	c, err := cluster.Connect(t.Context(), url)
	must(t, err)
	defer c.Close()
	c.Handle(cluster.NewTask("digest/v1", func(_ context.Context, q struct{ Path []byte }) (map[string]string, error) {
		if strings.HasSuffix(string(q.Path), "a") {
			return map[string]string{"error": hostile}, nil
		}
		return nil, errors.New(hostile)
	}))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- cluster.Serve(ctx, c) }()
	for _, args := range [][]string{{"a", "b"}, {"--json", "a", "b"}} {
		out, errs, code := runStint(t, "", append([]string{"sum", "--cluster", url}, args...)...)
		lines := strings.Split(strings.TrimSuffix(errs, "\n"), "\n")
		if code != 1 || len(lines) != 2 || !console.Printable(strings.Join(lines, "")) || !console.Printable(strings.ReplaceAll(out, "\n", "")) {
			t.Errorf("%q: exit status %d, output %q, messages %q; want two printable lines", args, code, out, errs)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// hostile clears the screen and looks like messages.
const hostile = "no\x1b[2J\r\nstint: all is well\x9b31m\u009b\u202e\x07\x7f"
