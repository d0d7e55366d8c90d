package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stint-go/stint/lab/measure"
)

// A group is where a version of cgroups has the limit of memory, and that of swap.
type group struct{ root, limit, swap string }

var groups = []group{
	{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"},
	{"/sys/fs/cgroup", "memory.max", "memory.swap.max"},
}

// makeGroup makes a cgroup with a limit, if this process may.
func makeGroup(limit int64) (dir string, err error) {
	for _, g := range groups {
		if dir, err = os.MkdirTemp(g.root, "stint-lab-"); err != nil {
			continue
		}
		swap := int64(0)
		if strings.Contains(g.swap, "memsw") {
			swap = limit // of both
		}
		if err = os.WriteFile(filepath.Join(dir, g.limit), fmt.Append(nil, limit), 0); err == nil {
			_ = os.WriteFile(filepath.Join(dir, g.swap), fmt.Append(nil, swap), 0) // not everywhere
			return dir, nil
		}
		removeGroup(dir)
	}
	return "", err
}

// removeGroup removes a cgroup, in which the last processes may be ending.
func removeGroup(dir string) {
	for range 100 {
		if dir == "" || os.Remove(dir) == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// enterGroup makes a process run in a cgroup. It succeeds if jobs were killed, which the report
// of the command tells.
func enterGroup(p *measure.Process, limit int64) (leave func() error, err error) {
	dir, err := makeGroup(limit)
	if err != nil {
		return nil, err
	}
	const script = `echo $$ >"$0/cgroup.procs" && "$@"; [ $? -le 1 ]`
	p.Args = append([]string{"sh", "-c", script, dir}, p.Args...)
	return func() error { removeGroup(dir); return nil }, nil
}
