package embedded

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// holding is the variable with the directory that this binary holds, run again as
// another process.
const holding = "STINT_EMBEDDED_HOLD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holding); dir != "" {
		hold(dir)
		return
	}
	os.Exit(m.Run())
}

// hold starts a server on dir, says in a line what came of it, and ends with its
// input.
func hold(dir string) {
	s, err := collect([]Option{Dir(dir)})
	if err == nil {
		var h *host
		if h, err = start(s); err == nil {
			defer h.close()
		}
	}
	fmt.Println(err)
	io.Copy(io.Discard, os.Stdin)
}

// another starts a process that holds dir, and returns what it said. It waits for
// its end when end is called.
func another(t *testing.T, dir string) (said string, process *os.Process, end func()) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), holding+"="+dir)
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
	dir := t.TempDir()
	said, _, end := another(t, dir)
	if said != "<nil>" {
		t.Fatalf("the other process could not open the directory: %s", said)
	}
	if err := fails(t, Dir(dir)); !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "another server") {
		t.Errorf("while another process has the directory: %v", err)
	}
	end()
	run(t, Dir(dir))
	want := fmt.Sprintf("embedded: Dir(%q): another server uses this directory", dir)
	if said, _, _ := another(t, dir); said != want {
		t.Errorf("the other process said %q; want %q", said, want)
	}
}

func TestDirIsFreeAfterAKill(t *testing.T) {
	dir := t.TempDir()
	said, process, end := another(t, dir)
	if said != "<nil>" {
		t.Fatalf("the other process could not open the directory: %s", said)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	end()
	run(t, Dir(dir))
}
