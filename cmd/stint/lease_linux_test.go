package main

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// TestFileWithLease reads a file on which this process has a lease, which it returns when
// the kernel asks for it.
func TestFileWithLease(t *testing.T) {
	testfiles.Dir(t, "a", "a\n")
	f, err := os.OpenFile("a", os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGIO)
	defer signal.Stop(asked)
	lease := func(kind uintptr) syscall.Errno {
		_, _, err := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_SETLEASE, kind)
		return err
	}
	if err := lease(syscall.F_WRLCK); err != 0 {
		t.Skipf("no leases here: %v", err)
	}
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		<-asked
		if err := lease(syscall.F_UNLCK); err != 0 {
			t.Error(err)
		}
	}()
	out, errs, code := runStint(t, "", "sum", "-a", "md5", "a")
	if out != "60b725f10c9c85c70d97880dfe8191b3  a\n" || errs != "" || code != 0 {
		t.Errorf("exit status %d, output %q, messages %q; want the line of a", code, out, errs)
	}
	<-returned
}
