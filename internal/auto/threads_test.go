package auto

import "testing"

func TestThreadsHoldTheLimit(t *testing.T) {
	limits(t, 0, 0)
	const (
		calls = "threads: 100 goroutines are in system calls or C"
		many  = "threads: 2001 in the process"
	)
	for _, s := range []struct {
		threads, inCalls uint64
		now, want, most  int
		reason           string
	}{
		{10, 0, 16, 256, 256, ""},
		{2000, 0, 200, 256, 256, ""},
		{2001, 0, 200, 256, 200, many},
		{2001, 0, 1, 2, 1, many},
		{2001, 100, 200, 256, 200, many},
		{110, 100, 100, 128, 128, ""},
		{110, 100, 100, 200, 128, calls},
		{110, 100, 128, 256, 128, calls},
		{110, 100, 200, 256, 200, calls},
		{110, 100, 201, 256, 256, ""},
	} {
		var f figures
		f[readThreads], f[readInCalls] = s.threads, s.inCalls
		room(t, f.ceiling(), s.now, s.want, s.most, s.reason)
	}
}

func TestThreadsAndMemoryHoldTogether(t *testing.T) {
	limits(t, 512*mib, 0)
	var f figures
	c := f.ceiling()
	f.collect(1)
	room(t, c, 0, 16, 16, "")
	f.collect(101)
	f[readInCalls] = 90
	room(t, c, 100, 256, 128, "threads: 90 goroutines are in system calls or C")
	f.collect(301)
	room(t, c, 100, 256, 119, "memory: 301 of 358 MiB in use, 3.0 MiB a worker")
}
