package tests

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// A disk that is full during a run stops nothing permanently: the server is replaced in its
// process when there is room.
func TestDiskIsFull(t *testing.T) {
	t.Parallel()
	const n = 400
	if out, err := exec.Command("unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", t.TempDir()).CombinedOutput(); err != nil {
		t.Skipf("no file system of its own here: %v: %s", err, out)
	}
	dir, port, j := t.TempDir(), freePorts(t, 1)[0], newJournal(t)
	where := "nats://" + loopback(port)
	s := start(t, part{Role: "server", Server: node{Dir: filepath.Join(dir, "queue"), Port: port}},
		"unshare", "--user", "--map-root-user", "--mount", "sh", "-c", `mount -t tmpfs -o size=16m none "$0" && exec "$@"`, dir)
	counter := look(t, where)
	counter.connected(t)
	workers := startWorkers(t, 2, part{URL: where, Journal: j.Path, Slots: 4})
	client := connect(t, where)
	c := begin(bounded(t), client, newTask(j), items(n, item{}))
	j.seen(t, n/8, "begun", is("begin"))
	room := fill(t, fmt.Sprintf("/proc/%s/root%s", s.name(), dir))
	eventually(t, "the server stores nothing", func() bool {
		s, err := client.Status(bounded(t))
		return err == nil && s.Store != ""
	})
	room()
	c.succeed(t, n)
	runsOf(t, j.events(t), n)
	counter.leftWithin(t, 0, patience) // a record that was removed while nothing could be written is there again, until it expires
	for _, w := range workers {
		if err := w.interrupt(t); err != nil {
			t.Errorf("a worker: %v", err)
		}
	}
	if err := s.interrupt(t); err != nil {
		t.Errorf("the server: %v", err)
	}
}

// fill makes a disk full, until room is called.
func fill(t *testing.T, dir string) (room func()) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "filled"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return func() {
		if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
			t.Error(err)
		}
	}
}
