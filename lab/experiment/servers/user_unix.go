//go:build unix

package servers

import (
	"cmp"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// An account is a user that a server runs as.
type account struct{ UID, GID int }

// unprivileged returns the account for servers that refuse to run as root: the
// first of some, or nil if this process is not root.
func unprivileged(names ...string) (*account, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	var u *user.User
	var err error
	for _, name := range names {
		if u, err = user.Lookup(name); err == nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	return &account{uid, gid}, cmp.Or(err1, err2)
}

// own makes the account the owner of a folder.
func (a *account) own(dir string) error {
	if a == nil {
		return nil
	}
	return os.Chown(dir, a.UID, a.GID)
}

// apart makes a command run as the account, if there is one, in a process group of
// its own: an interrupt from the terminal does not reach it.
func (a *account) apart(cmd *exec.Cmd) *exec.Cmd {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if a != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(a.UID), Gid: uint32(a.GID)}
	}
	return cmd
}
