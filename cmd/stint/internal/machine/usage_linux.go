package machine

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxThreads   = 64                    // of a process that are looked at
	maxProcesses = 1024                  // of a sample
	clockTick    = 10 * time.Millisecond // of /proc/PID/stat: USER_HZ is 100 on every system that Go runs on
)

// sampler reads what processes use, below a directory as /proc.
type sampler struct {
	proc string
	buf  []byte // of the last read
	pids []int  // of the sample
}

// Sample returns what the process with this number and its descendants use. It is not ok if
// there is no such process. Until it has been waited for, a process that has ended still has
// its CPU time.
//
// On a kernel that does not tell the children of a process, only the process itself counts. Of
// more than 1024 processes, and of more than 64 threads of a process, some are left out.
func Sample(pid int) (u Usage, ok bool) { return (&sampler{proc: "/proc"}).sample(pid) }

func (s *sampler) sample(pid int) (u Usage, ok bool) {
	s.pids = []int{pid}
	for i := 0; i < len(s.pids) && i < maxProcesses; i++ {
		exists := s.process(s.pids[i], &u)
		ok = ok || exists && i == 0
	}
	return u, ok
}

// Lives reports whether there is a process with this number that has memory: one that has been
// killed has none, though it may be there for a while.
func Lives(pid int) bool { return (&sampler{proc: "/proc"}).lives(pid) }

func (s *sampler) lives(pid int) bool {
	st, ok := parseStat(s.read(s.proc + "/" + strconv.Itoa(pid) + "/stat"))
	return ok && st.rss > 0
}

// process adds what a process uses to u, and its children to s.pids. It reports whether the
// process exists.
func (s *sampler) process(pid int, u *Usage) bool {
	dir := s.proc + "/" + strconv.Itoa(pid)
	st, ok := parseStat(s.read(dir + "/stat"))
	if !ok {
		return false
	}
	var run time.Duration
	u.Ready = u.Ready || st.state == 'R'
	if st.threads <= 1 {
		run = s.thread(dir+"/task/"+strconv.Itoa(pid), u)
	} else {
		for _, tid := range threads(dir + "/task") {
			run += s.thread(dir+"/task/"+tid, u)
		}
	}
	// The sum of the threads counts nanoseconds. That of stat includes threads that have ended.
	u.CPU += max(run, st.cpu) + st.reaped
	u.RSS += st.rss
	if st.rss > u.LargestRSS {
		u.Largest, u.LargestRSS = pid, st.rss
	}
	return true
}

// thread adds what a thread has waited to u, and the processes that it has started to s.pids.
// It returns its CPU time. A process belongs to the thread that started it.
func (s *sampler) thread(dir string, u *Usage) (run time.Duration) {
	first, rest, _ := bytes.Cut(s.read(dir+"/schedstat"), []byte(" "))
	second, _, _ := bytes.Cut(rest, []byte(" "))
	ns, _ := number(first)
	wait, _ := number(second)
	u.Wait += time.Duration(wait)
	for pid := range bytes.FieldsSeq(s.read(dir + "/children")) {
		if n, ok := number(pid); ok {
			s.pids = append(s.pids, int(n))
		}
	}
	return time.Duration(ns)
}

// threads returns the numbers of the first threads of a process.
func threads(dir string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxThreads)
	return names
}

// read returns what is in a file, nothing if it cannot be read. The result is good until the
// next read. It makes three or four system calls, where os.ReadFile makes eight: proc needs
// neither the size nor the poller.
func (s *sampler) read(name string) []byte {
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	s.buf = s.buf[:0]
	for {
		if cap(s.buf)-len(s.buf) < 2048 {
			s.buf = append(make([]byte, 0, 2*cap(s.buf)+4096), s.buf...)
		}
		n, err := syscall.Read(fd, s.buf[len(s.buf):cap(s.buf)])
		if n <= 0 || err != nil {
			return s.buf
		}
		s.buf = s.buf[:len(s.buf)+n]
	}
}

// stat is what is used of /proc/PID/stat.
type stat struct {
	state       byte
	cpu, reaped time.Duration
	threads     int64
	rss         int64
}

// parseStat parses /proc/PID/stat. The second field is a name in parentheses, which may have
// anything in it; no field after it has a parenthesis.
func parseStat(text []byte) (st stat, ok bool) {
	after := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(after) < 24-2 {
		return stat{}, false
	}
	field := func(i int) int64 { // from 1, as in the manual page
		n, _ := number(after[i-3])
		return n
	}
	st = stat{state: after[0][0], threads: field(20), rss: field(24) * int64(os.Getpagesize())}
	st.cpu = time.Duration(field(14)+field(15)) * clockTick    // utime, stime
	st.reaped = time.Duration(field(16)+field(17)) * clockTick // cutime, cstime
	return st, true
}

// affinity returns how many CPUs this process may run on.
func affinity() int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return runtime.NumCPU()
	}
	return set.Count()
}
