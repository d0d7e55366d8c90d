//go:build !unix

package main

import "os"

// openRegular opens a file whose reads do not wait for anybody.
func openRegular(path string) (*os.File, error) { return os.Open(path) }
