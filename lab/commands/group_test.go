package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// enter runs a command in a cgroup. Jobs of it may be killed.
const enter = `echo $$ >"$0/cgroup.procs" && "$@"; [ $? -le 1 ]`

// group makes a cgroup with a limit of memory, if this process may.
func group(b *testing.B, limit int64) (dir string) {
	err := error(nil)
	for _, file := range []string{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory.max"} {
		if dir, err = os.MkdirTemp(filepath.Dir(file), "stint-lab-"); err != nil {
			continue
		}
		b.Cleanup(func() {
			for k := 0; k < 100 && os.Remove(dir) != nil; k++ {
				time.Sleep(10 * time.Millisecond) // its last processes may be ending
			}
		})
		if err = os.WriteFile(filepath.Join(dir, filepath.Base(file)), fmt.Append(nil, limit), 0); err == nil {
			return dir
		}
	}
	b.Skip("no cgroup with a limit of memory: ", err)
	return ""
}
