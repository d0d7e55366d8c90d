//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	natsserver "github.com/nats-io/nats-server/v2/server"
)

const (
	inlineSize = 128 << 10   // of the output that a result has itself
	partSize   = 256<<10 - 1 // of more, at most
)

// outputSizes are numbers of bytes that a job prints, and prints as errors.
type outputSizes [][2]int

// split returns ways to print n bytes.
func split(n int) outputSizes {
	return outputSizes{{n, 0}, {0, n}, {n / 2, n - n/2}, {1, n - 1}, {n - 1, 1}}
}

// account gives the clients of a server an account with limits.
func account(t *testing.T, limits string) func(*natsserver.Options) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "conf")
	must(t, os.WriteFile(path, []byte("accounts { A { jetstream { "+limits+" }, users: [ { user: a, password: a } ] } }\nno_auth_user: a\n"), 0o600))
	return func(o *natsserver.Options) {
		dir := o.StoreDir
		must(t, o.ProcessConfigFile(path))
		o.StoreDir = dir
	}
}

// TestRunClusterServerAllowsLess has jobs print random bytes, none, about as many as a message can have,
// and many, with servers of others: most allow less in one way.
func TestRunClusterServerAllowsLess(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*natsserver.Options){
		"nothing less":     func(*natsserver.Options) {},
		"messages of 16K":  func(o *natsserver.Options) { o.MaxPayload = 16 << 10 },
		"messages of 256K": func(o *natsserver.Options) { o.MaxPayload = 256 << 10 },
		"five streams":     account(t, "max_streams: 5"),
		"sizes in 4M":      account(t, "max_file: 4M, max_bytes_required: true"),
		"streams of 1M":    account(t, "disk_max_stream_bytes: 1MB, max_bytes_required: true"),
		"requests for 2":   func(o *natsserver.Options) { o.JetStreamLimits.MaxRequestBatch = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := natsServer(t, set)
			worker(t, "--cluster", url, "--run", "-j", "4")
			wantOutputs(t, url, slices.Concat(outputSizes{{0, 0}, {1, 1}, {3 << 20, 3 << 20}}, split(5<<10), split(12<<10), split(inlineSize), split(inlineSize+1), split(partSize), split(partSize+1)))
			input := strings.Join(items1to(100_000), "\n") + "\n"
			p := newClusterRun(t, url, "--pipe", "cat")
			p.Stdin = strings.NewReader(input)
			p.start().wantOnly(input, "")
			p = newClusterRun(t, url, "-j", "8", "-X", "-s", `printf '%s\n' "$@"`)
			p.Stdin = strings.NewReader(input)
			p.start().wantOnly(input, "")
			left(t, url)
		})
	}
}

// TestRunClusterBlockTooLarge names the largest block of the server, which it takes.
func TestRunClusterBlockTooLarge(t *testing.T) {
	t.Parallel()
	url := natsServer(t, func(o *natsserver.Options) { o.MaxPayload = 64 << 10 })
	worker(t, "--cluster", url, "--run", "-j", "4")
	p := newClusterRun(t, url, "--pipe", "--block", "60k", "cat").start()
	p.end()
	most := regexp.MustCompile(`a block has at most (\d+) bytes there\n$`).FindStringSubmatch(p.errs.String())
	if p.ProcessState.ExitCode() != 1 || most == nil {
		t.Fatalf("exit status %d, messages %q", p.ProcessState.ExitCode(), p.errs.String())
	}
	input := strings.Repeat("0123456789abcde\n", 10_000)
	p = newClusterRun(t, url, "--pipe", "--block", most[1], "cat")
	p.Stdin = strings.NewReader(input)
	p.start().want(0, input, "")
	left(t, url)
}

// wantOnly waits for the end, and wants what jobs print. A worker may have had no time to answer.
func (p *faultRun) wantOnly(out, errs string) {
	p.t.Helper()
	p.end()
	got := strings.ReplaceAll(p.errs.String(), "stint: no worker answers; waiting for one: start it with 'stint work --run'\n", "")
	if code := p.ProcessState.ExitCode(); code != 0 || p.out.String() != out || got != errs {
		p.t.Errorf("exit status %d, %d bytes of output and %d of errors, want 0, %d and %d, or others", code, p.out.Len(), len(got), len(out), len(errs))
	}
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
	p.start().wantOnly(out.String(), errs.String())
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
