//go:build linux || darwin || freebsd

package embedded

import "syscall"

// diskSize returns the size of the file system of a directory in bytes, free or not.
func diskSize(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Blocks) * int64(s.Bsize), nil
}
