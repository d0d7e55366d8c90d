package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stint-go/stint/cluster"
)

// TestReaderLeaves has a reader of the results that takes one line, and wants that the
// run ends in order: nothing of it stays on the server.
func TestReaderLeaves(t *testing.T) {
	grow(t)
	write(t, "many", strings.Repeat("names\n", 20_000))
	url, _ := serve(t)
	worker(t, "--cluster", url)
	for _, args := range [][]string{{"--files-from", "many"}, {"--files-from", "many", "--cluster", url}} {
		cmd := exec.Command("stint", append([]string{"sum"}, args...)...)
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReaderSize(out, 16).ReadString('\n'); err != nil || !strings.HasSuffix(line, "  names\n") {
			t.Errorf("%q: read %q, %v; want a line", args, line, err)
		}
		out.Close()
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 141 || errs.Len() > 0 {
			t.Errorf("%q: %v, messages %q; want exit status 141 and none", args, err, &errs)
		}
	}
	if s := state(t, url); len(s.Runs) > 0 {
		t.Errorf("left on the server: %+v", s.Runs)
	}
	until(t, url, "nothing is queued", func(s *cluster.Status) bool { return s.Tasks[0].Queued+s.Tasks[0].InFlight == 0 })
}

// TestNobodyHearsMessages has a reader of the messages that has left, and wants the results.
func TestNobodyHearsMessages(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a", "a\n")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	cmd := exec.Command("stint", "sum", "-a", "md5", "-o", "out", "missing", "a")
	cmd.Stderr = w
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%v, want exit status 1", err)
	}
	if got, _ := os.ReadFile("out"); string(got) != "60b725f10c9c85c70d97880dfe8191b3  a\n" || names(t, ".") != "a out" {
		t.Errorf("the files %s, and out holds %q; want a and out, with the line of a", names(t, "."), got)
	}
}
