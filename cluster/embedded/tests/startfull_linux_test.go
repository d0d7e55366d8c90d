package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// A server that starts on a disk that is nearly full takes as much as there is room for
// later.
func TestServerStartsOnAFullDisk(t *testing.T) {
	t.Parallel()
	const n = 10
	if out, err := exec.Command("unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", t.TempDir()).CombinedOutput(); err != nil {
		t.Skipf("no file system of its own here: %v: %s", err, out)
	}
	dir, port, j := t.TempDir(), freePorts(t, 1)[0], newJournal(t)
	where := "nats://" + loopback(port)
	s := start(t, part{Role: "server", Server: node{Dir: filepath.Join(dir, "queue"), Port: port}},
		"unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
		`mount -t tmpfs -o size=40m none "$0" && head -c 38000000 /dev/zero >"$0/filled" && exec "$@"`, dir)
	counter := look(t, where)
	counter.connected(t)
	if err := os.Remove(fmt.Sprintf("/proc/%s/root%s/filled", s.name(), dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := counter.js.CreateStream(bounded(t), jetstream.StreamConfig{Name: "X", Subjects: []string{"x"}}); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if _, err := counter.js.Publish(bounded(t), "x", make([]byte, 1<<20-100)); err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
	}
	startWorkers(t, 1, part{URL: where, Journal: j.Path, Slots: 2})
	begin(bounded(t), connect(t, where), newTask(j), items(n, item{})).succeed(t, n)
}
