//go:build !unix

package files

import (
	"io/fs"
	"os"
)

// copyOwner gives f the permissions of old.
func copyOwner(f *os.File, old fs.FileInfo) { _ = f.Chmod(old.Mode().Perm()) }
