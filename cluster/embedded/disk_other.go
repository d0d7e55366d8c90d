//go:build !linux && !darwin && !freebsd

package embedded

import "errors"

// diskSize returns an error: the size is not known here.
func diskSize(string) (int64, error) { return 0, errors.ErrUnsupported }
