//go:build unix

package files

import (
	"io/fs"
	"os"
	"syscall"
)

// copyOwner gives f the owner, group and permissions of old, as far as this user may.
func copyOwner(f *os.File, old fs.FileInfo) {
	was, mode := old.Sys().(*syscall.Stat_t), old.Mode().Perm()
	if f.Chown(int(was.Uid), int(was.Gid)) != nil && f.Chown(-1, int(was.Gid)) != nil {
		mode &^= 0o070 // which another group would get
	}
	_ = f.Chmod(mode)
}
