package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestRunFewDescriptors gives stint few descriptors: the jobs that it can run, run.
func TestRunFewDescriptors(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-j", "100"}, {"-j", "100", "--results", "results"}, {"--unordered", "-j", "1"}, {"--joblog", "log"}} {
		items := items1to(200)
		p := newFaultRun(t, append(append(args, "-s", "echo $1", ":::"), items...)...).within("sh", "-c", `ulimit -n 64; exec "$@"`, "sh")
		p.start().want(0, strings.Join(items, "\n")+"\n", "")
	}
}

// TestRunFewProcesses gives a user few processes, of which the threads of stint are some.
func TestRunFewProcesses(t *testing.T) {
	t.Parallel()
	skipUnlessRoot(t)
	dir, err := os.MkdirTemp("", "stint-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o777))
	path, err := exec.LookPath("stint")
	must(t, err)
	must(t, exec.Command("cp", path, filepath.Join(dir, "stint")).Run())
	for i, most := range []int{40, 60, 80} {
		items := items1to(200)
		p := newFaultRun(t, append([]string{"-j", "100", "-s", "echo $1", ":::"}, items...)...)
		p.Path, p.Dir = filepath.Join(dir, "stint"), dir
		p.within("prlimit", fmt.Sprint("--nproc=", most))
		p.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(61_000 + os.Getpid()%900 + 1000*i), Gid: 61_000, NoSetGroups: false}}
		p.start().want(0, strings.Join(items, "\n")+"\n", "")
	}
}

// TestRunOutOfMemory has a job whose shell hides that the kernel has killed what it ran, beside
// innocent ones that end meanwhile. The tests of package limit have the same without a cgroup.
func TestRunOutOfMemory(t *testing.T) {
	t.Parallel()
	group := memoryGroup(t, 200<<20)
	script := "case $1 in 3) (head -c 90M /dev/zero; sleep 1; head -c 900M /dev/zero) | tail -c 899M > hidden;; *) sleep 0.2; : | sort;; esac; echo $1"
	p := newFaultRun(t, append([]string{"-j", "4", "-s", script, ":::"}, items1to(12)...)...)
	p.within("sh", "-c", `echo $$ > "$0/cgroup.procs" && exec "$@"`, group)
	p.start().want(1, strings.Join(items1to(12), "\n")+"\n", "1 of 12 jobs failed: job 3, the kernel has killed a process")
}

// memoryGroup returns the directory of a new cgroup with a limit of memory.
func memoryGroup(t *testing.T, limit int) string {
	t.Helper()
	skipUnlessRoot(t)
	for _, c := range []struct{ dir, max string }{{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, {"/sys/fs/cgroup", "memory.max"}} {
		dir := filepath.Join(c.dir, fmt.Sprint("stint-test-", os.Getpid()))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() {
			for n := 0; os.Remove(dir) != nil && n < 1000; n++ {
				time.Sleep(10 * time.Millisecond) // the last process ends
			}
		})
		if os.WriteFile(filepath.Join(dir, c.max), fmt.Append(nil, limit), 0o644) == nil {
			return dir
		}
	}
	t.Skip("no cgroup can be made here that limits memory")
	return ""
}

// oneALine hashes an output with a line end for each space.
type oneALine struct{ hash.Hash }

func (o oneALine) Write(b []byte) (int, error) {
	return o.Hash.Write(bytes.ReplaceAll(b, []byte(" "), []byte("\n")))
}

// TestRunItemsNeedNoMemory wants that of items, in a job each and in few jobs.
func TestRunItemsNeedNoMemory(t *testing.T) {
	t.Parallel()
	const n = 400_000
	for _, args := range [][]string{{"--dry-run", "echo"}, {"-X", "echo"}} {
		r, w := io.Pipe()
		want, got := sha256.New(), oneALine{sha256.New()}
		p := newFaultRun(t, args...)
		p.Stdin, p.Stdout = r, got
		p.start()
		go func() {
			for i := range n {
				if args[0] == "--dry-run" {
					fmt.Fprint(want, "echo\n")
				}
				fmt.Fprintf(want, "%019d\n", i)
				if i%1000 == 0 {
					fmt.Fprint(w, lines19(i, min(i+1000, n)))
				}
			}
			w.Close()
		}()
		p.wantMemory(40)
		if p.wantMessage(""); !slices.Equal(want.Sum(nil), got.Sum(nil)) {
			t.Errorf("%q: the output differs from the input", args)
		}
	}
}

func lines19(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "%019d\n", i)
	}
	return b.String()
}
