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

// killMarked kills the groups of processes that have the mark. It pauses and looks again, some
// times, while it sees a process without any variable: one that is executing a program has none
// for a moment, which on busy CPUs may be long.
func killMarked(mark string, pause func()) {
	for scans, pauses := 0, 0; scans < markScans && pauses < markPauses; {
		groups, bare := marked(mark)
		for _, group := range groups {
			killGroup(group)
		}
		switch {
		case bare:
			pauses++
			pause()
		case len(groups) > 0:
			scans++
		default:
			return
		}
	}
}

// marked returns the groups of processes that have the mark and are in the session of its
// maker: those that have made a session of their own are left alone, and those that have moved
// to the group of the maker. bare reports whether there is one without any variable.
func marked(mark string) (groups []int, bare bool) {
	number, _, _ := strings.Cut(strings.TrimPrefix(mark, markVariable+"="), "-")
	session, err := strconv.Atoi(number)
	if err != nil {
		return nil, false
	}
	maker, _ := syscall.Getpgid(os.Getppid())
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
		if group, err := syscall.Getpgid(pid); err == nil && group > 1 && group != maker {
			groups = append(groups, group)
		}
	}
	return groups, bare
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
