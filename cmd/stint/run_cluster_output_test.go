//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	inlineSize = 128 << 10 // of the output that a result has itself
	pieceSize  = 512 << 10 // of more, at most
)

// outputSizes are numbers of bytes that a job prints, and prints as errors.
type outputSizes [][2]int

// split returns ways to print n bytes.
func split(n int) outputSizes {
	return outputSizes{{n, 0}, {0, n}, {n / 2, n - n/2}, {1, n - 1}, {n - 1, 1}}
}

// TestRunClusterOutputSizes prints random bytes: none, about as many as a result can have, and
// many.
func TestRunClusterOutputSizes(t *testing.T) {
	t.Parallel()
	url, _ := serve(t)
	worker(t, "--cluster", url, "--run", "-j", "4")
	small := slices.Concat(outputSizes{{0, 0}, {1, 0}, {0, 1}}, split(inlineSize-1), split(inlineSize))
	large := slices.Concat(split(inlineSize+1), outputSizes{{pieceSize, 0}, {pieceSize + 1, pieceSize - 1}, {3 << 20, 0}, {0, 3 << 20}, {3 << 20, 0}, {0, 0}})
	wantOutputs(t, url, small)
	if got := pieces(t, url); got != 0 {
		t.Errorf("%d pieces for output that fits into results, want none", got)
	}
	wantOutputs(t, url, large)
	if got, want := pieces(t, url), large.pieces(); got < want {
		t.Errorf("%d pieces for large output, want %d", got, want)
	}
	left(t, url)
}

// pieces returns how many pieces of output the server has had.
func pieces(t *testing.T, url string) int {
	t.Helper()
	js, err := jetstream.New(connect(t, url))
	must(t, err)
	stream, err := js.Stream(t.Context(), "stint-output")
	must(t, err)
	return int(stream.CachedInfo().State.LastSeq)
}

// pieces returns how many are needed.
func (o outputSizes) pieces() int {
	n := 0
	for _, size := range o {
		if size[0]+size[1] > inlineSize {
			n += (size[0]+pieceSize-1)/pieceSize + (size[1]+pieceSize-1)/pieceSize
		}
	}
	return n
}

// wantOutputs runs a job for each of the sizes, and wants its bytes, also in files.
func wantOutputs(t *testing.T, url string, all outputSizes) {
	t.Helper()
	data := make([]byte, 3<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data)
	args := []string{"--results", "results", "-s", "head -c ${1%-*} data; tail -c ${1#*-} data >&2", ":::"}
	var out, errs strings.Builder
	for _, size := range all {
		args = append(args, fmt.Sprintf("%d-%d", size[0], size[1]))
		out.Write(data[:size[0]])
		errs.Write(data[len(data)-size[1]:])
	}
	p := newClusterRun(t, url, args...)
	p.write("data", string(data))
	if p.start().end(); p.ProcessState.ExitCode() != 0 {
		t.Errorf("exit status %d, want 0", p.ProcessState.ExitCode())
	}
	if p.out.String() != out.String() || p.errs.String() != errs.String() {
		t.Errorf("%d bytes of output and %d of errors, want %d and %d, or others", p.out.Len(), len(p.errs.String()), out.Len(), errs.Len())
	}
	files := readTree(t, filepath.Join(p.Dir, "results"))
	for i, size := range all {
		dir := fmt.Sprint(i + 1)
		if files[dir+"/stdout"] != string(data[:size[0]]) || files[dir+"/stderr"] != string(data[len(data)-size[1]:]) {
			t.Errorf("results of %v: %d and %d bytes, or others", size, len(files[dir+"/stdout"]), len(files[dir+"/stderr"]))
		}
	}
}

// readTree returns the contents of the files below dir.
func readTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(b)
		return err
	}))
	return files
}

// TestRunClusterRecords wants the files of --results and --joblog where the command runs, as
// without workers, and none where they run.
func TestRunClusterRecords(t *testing.T) {
	t.Parallel()
	url, _ := serve(t)
	w := faultWorker(t, url, "WORKER=1", "--run", "-j", "2")
	args := []string{"--results", "results/of", "--joblog", "log", "-s", `echo "out $1"; echo err >&2
		case $1 in big) head -c 200000 /dev/zero;; none) exec nonesuch 2>&-;; term) kill $$;; *) exit $1;; esac`, ":::", "0", "3", "255", "big", "none", "term", "0"}
	p, here := newFaultRun(t, append([]string{"--cluster", url}, args...)...), newFaultRun(t, args...)
	for _, q := range []*faultRun{p, here} {
		if q.start().end(); q.ProcessState.ExitCode() != 1 {
			t.Errorf("exit status %d, want 1", q.ProcessState.ExitCode())
		}
	}
	got, want := readTree(t, p.Dir), readTree(t, here.Dir)
	if g, w := logOf(t, got["log"], host(t)), logOf(t, want["log"], ":"); g != w {
		t.Errorf("the job log %s", difference(g, w))
	}
	delete(got, "log")
	delete(want, "log")
	if len(want) != 7*3 || len(got) != len(want) {
		t.Errorf("%d files of results, %d without workers, want %d", len(got), len(want), 7*3)
	}
	for name, text := range want {
		if file, ok := got[name]; !ok || file != text {
			t.Errorf("%s: %t, %.200q, want %.200q", name, ok, file, text)
		}
	}
	if files := readTree(t, w.Dir); len(files) > 0 {
		t.Errorf("%d files where the worker runs, want none", len(files))
	}
}

// logOf returns a job log in the order of the jobs, without times. The jobs must have run on
// that host.
func logOf(t *testing.T, log, host string) string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(log) {
		fields := strings.SplitN(line, "\t", 9)
		if len(fields) != 9 || fields[1] != host && fields[0] != "Seq" {
			t.Errorf("a line of the job log is %q, want one of host %s", line, host)
			continue
		}
		lines = append(lines, strings.Join(slices.Concat(fields[:1], fields[4:]), "\t"))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// TestRunClusterResume resumes a run: with more items, and again after a failure.
func TestRunClusterResume(t *testing.T) {
	t.Parallel()
	url, _ := serve(t)
	worker(t, "--cluster", url, "--run", "-j", "2")
	dir := t.TempDir()
	for _, step := range []struct {
		flag   string
		items  int
		status int
		run    string // the items that run now
	}{
		{"--resume", 5, 1, "1 2 3 4 5"},
		{"--resume", 8, 0, "6 7 8"},
		{"--resume-failed", 9, 1, "3 9"},
		{"--resume", 9, 0, ""},
		{"--quiet", 2, 0, "1 2"}, // another log
	} {
		p := newClusterRun(t, url, append([]string{step.flag, "--joblog", "log", "-s", `echo $1; [ $1 != 3 ]`, ":::"}, items1to(step.items)...)...)
		p.Dir = dir
		p.start().end()
		if got := strings.Join(strings.Fields(p.out.String()), " "); got != step.run || p.ProcessState.ExitCode() != step.status {
			t.Errorf("%+v: exit status %d, jobs %q; messages %q", step, p.ProcessState.ExitCode(), got, p.errs.String())
		}
	}
}
