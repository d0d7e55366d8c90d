package process

import (
	"bytes"
	"crypto/rand"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	markVariable = "STINT_RUN"
	markScans    = 5  // of all processes, while some are found: they may start others meanwhile
	markPauses   = 50 // while some have no variables: a second
)

// newMark returns a variable that processes of this process have, and their children. The
// watcher is told of a process only after it has started, which on busy CPUs may be late.
func newMark() string {
	session, err := unix.Getsid(0)
	if err != nil {
		return ""
	}
	return markVariable + "=" + strconv.Itoa(session) + "-" + rand.Text()
}

// killMarked kills the groups of processes that have the mark and are in the session of its
// maker: those that have made a session of their own are left alone. It pauses and looks again,
// some times, while it sees a process without any variable: one that is executing a program has
// none for a moment, which on busy CPUs may be long.
func killMarked(mark string, pause func()) {
	number, _, _ := strings.Cut(strings.TrimPrefix(mark, markVariable+"="), "-")
	session, err := strconv.Atoi(number)
	if err != nil {
		return
	}
	for scans, pauses := 0, 0; scans < markScans && pauses < markPauses; {
		found, bare := false, false
		for _, pid := range processes() {
			env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
			if err != nil || len(env) > 0 && !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+mark+"\x00")) {
				continue
			}
			if s, err := unix.Getsid(pid); err != nil || s != session {
				continue
			}
			if len(env) == 0 {
				bare = bare || alive(pid)
				continue
			}
			if group, err := syscall.Getpgid(pid); err == nil && group > 1 {
				found = true
				killGroup(group)
			}
		}
		switch {
		case bare:
			pauses++
			pause()
		case found:
			scans++
		default:
			return
		}
	}
}

// processes returns the numbers of all processes.
func processes() []int {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	var all []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			all = append(all, pid)
		}
	}
	return all
}
