package embedded

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint/cluster"
)

// These are the variables with the directory on which this binary does what they say,
// run again as another process.
const (
	holding    = "STINT_EMBEDDED_HOLD"
	submitting = "STINT_EMBEDDED_SUBMIT"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(holding); dir != "" {
		hold(dir)
		return
	}
	if dir := os.Getenv(submitting); dir != "" {
		submit(dir)
		return
	}
	flag.Parse()
	if flag.Lookup("test.parallel").Value.String() == flag.Lookup("test.parallel").DefValue {
		flag.Set("test.parallel", "6") // the tests wait more than they compute
	}
	os.Exit(m.Run())
}

// hold starts a server on dir, says in a line what came of it, and ends with its
// input.
func hold(dir string) {
	c, err := Open(Dir(dir))
	if err == nil {
		defer c.Close()
	}
	fmt.Println(err)
	io.Copy(io.Discard, os.Stdin)
}

// submit queues tasks on dir for which there is no worker, says so in a line, and
// waits for them.
func submit(dir string) {
	c, err := Open(Dir(dir))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	ended := make(chan error)
	go func() {
		_, err := cluster.Map(context.Background(), c, half, []int{10, 20, 30}, cluster.Name("halves"))
		ended <- err
	}()
	for queued(c) < 3 {
		time.Sleep(time.Millisecond)
	}
	fmt.Println("queued")
	fmt.Fprintln(os.Stderr, <-ended) // not before it is killed
}

// queued returns how many tasks of e no worker has.
func queued(c *cluster.Client) (n int) {
	s, err := c.Status(context.Background())
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for _, task := range s.Tasks {
		n += task.Queued
	}
	return n
}

// another starts a process that does with dir what role says, and returns its first
// line. It waits for its end when end is called.
func another(t *testing.T, role, dir string) (said string, process *os.Process, end func()) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), role+"="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end = func() {
		in.Close()
		cmd.Wait() // it may have been killed
	}
	t.Cleanup(end)
	said, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the other process said %q: %v", said, err)
	}
	return strings.TrimSpace(said), cmd.Process, end
}

func TestDirHasOneServerAmongProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	said, _, end := another(t, holding, dir)
	if said != "<nil>" {
		t.Fatalf("the other process could not open the directory: %s", said)
	}
	if err := fails(t, Dir(dir)); !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "another server") {
		t.Errorf("while another process has the directory: %v", err)
	}
	end()
	run(t, Dir(dir))
	want := fmt.Sprintf("embedded: Dir(%q): another server uses this directory", dir)
	if said, _, _ := another(t, holding, dir); said != want {
		t.Errorf("the other process said %q; want %q", said, want)
	}
}

func TestDirIsFreeAfterAKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	said, process, end := another(t, holding, dir)
	if said != "<nil>" {
		t.Fatalf("the other process could not open the directory: %s", said)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	end()
	run(t, Dir(dir))
}

func TestDirKeepsWhatIsQueuedThroughAKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	said, process, end := another(t, submitting, dir)
	if said != "queued" {
		t.Fatalf("the other process said %q", said)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	end()

	c := open(t, Dir(dir))
	if n := queued(c); n != 3 {
		t.Errorf("%d tasks are queued; want 3", n)
	}
	c.Handle(half)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- cluster.Serve(ctx, c, cluster.Limit(2)) }()
	var out []int
	for n, err := range cluster.Resume(ctx, c, half, "halves") {
		if errors.Is(err, cluster.ErrIncomplete) {
			break // it was killed before it noted that these were all
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	if !slices.Equal(out, []int{5, 10, 15}) {
		t.Errorf("Resume = %v; want [5 10 15]", out)
	}
	stop()
	if err := <-served; err != nil {
		t.Errorf("Serve = %v", err)
	}
}
