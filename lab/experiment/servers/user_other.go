//go:build !unix

package servers

import "os/exec"

// An account is a user that a server runs as. There is none here.
type account struct{}

func unprivileged(...string) (*account, error) { return nil, nil }

func (a *account) own(string) error { return nil }

func (a *account) apart(cmd *exec.Cmd) *exec.Cmd { return cmd }
