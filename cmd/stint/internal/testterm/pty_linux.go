package testterm

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Open returns both ends of a new pseudo-terminal: a program writes to the terminal, and the test reads
// it from screen. The test closes both at its end.
func Open(t *testing.T, columns int) (screen, terminal *os.File) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	check(err)
	screen = os.NewFile(uintptr(fd), "screen")
	t.Cleanup(func() { screen.Close() })
	check(unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	check(err)
	check(unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)}))
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	check(err)
	t.Cleanup(func() { terminal.Close() })
	return screen, terminal
}
