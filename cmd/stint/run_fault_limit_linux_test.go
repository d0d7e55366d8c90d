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

// oneALine hashes an output with a line end for each space.
type oneALine struct{ hash.Hash }

func (o oneALine) Write(b []byte) (int, error) {
	return o.Hash.Write(bytes.ReplaceAll(b, []byte(" "), []byte("\n")))
}

// TestRunMillionItems wants that items need no memory, in a job each and in few jobs.
func TestRunMillionItems(t *testing.T) {
	t.Parallel()
	n := 1_000_000
	if testing.Short() {
		n = 100_000
	}
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
