package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// endless is a standard input from which nothing ever comes. It says when
// somebody begins to wait for it.
type endless struct {
	once    sync.Once
	waiting chan struct{}
}

func newEndless() *endless { return &endless{waiting: make(chan struct{})} }

func (e *endless) Read([]byte) (int, error) {
	e.once.Do(func() { close(e.waiting) })
	select {}
}

// TestInterruptWhileReading stops runs that wait for standard input, in every
// place that reads it, and wants nothing left behind.
func TestInterruptWhileReading(t *testing.T) {
	for _, args := range []string{"-", "a -", "-o out a -", "--files-from -", "-c", "-c -", "-c list -", "-o out --files-from - -0", "--progress=always a -"} {
		t.Run(args, func(t *testing.T) {
			t.Chdir(t.TempDir())
			write(t, "a", "a\n")
			write(t, "list", "60b725f10c9c85c70d97880dfe8191b3  a\n")
			ctx, cancel := context.WithCancel(t.Context())
			in := newEndless()
			go func() {
				<-in.waiting
				cancel()
			}()
			var out, errs strings.Builder
			status := run(ctx, append([]string{"sum", "-a", "md5"}, strings.Fields(args)...), in, &out, &errs)
			if status != 130 {
				t.Errorf("exit status %d, want 130", status)
			}
			if errs.Len() > 0 && !strings.Contains(args, "progress") {
				t.Errorf("messages %q, want none", &errs)
			}
			if names := names(t, "."); names != "a list" {
				t.Errorf("left behind: %s; want a list", names)
			}
		})
	}
}

// TestInterruptPipes stops runs that wait for a named pipe: for somebody to open
// its other end, and for bytes.
func TestInterruptPipes(t *testing.T) {
	for _, args := range []string{"pipe", "a pipe", "--files-from pipe", "-c pipe", "-c list", "-o pipe a"} {
		for _, opened := range []bool{false, true} {
			if opened && strings.Contains(args, "-o") {
				continue // and then writes to it, which nobody reads
			}
			t.Run(fmt.Sprint(args, " ", opened), func(t *testing.T) {
				t.Chdir(t.TempDir())
				write(t, "a", "a\n")
				write(t, "list", "60b725f10c9c85c70d97880dfe8191b3  pipe\n")
				if err := exec.Command("mkfifo", "pipe").Run(); err != nil {
					t.Skipf("no named pipes here: %v", err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				go func() {
					defer cancel()
					if opened {
						w, err := os.OpenFile("pipe", os.O_WRONLY, 0) // waits for the reader
						if err != nil {
							t.Error(err)
							return
						}
						t.Cleanup(func() { w.Close() })
					}
				}()
				var out, errs strings.Builder
				status := run(ctx, append([]string{"sum", "-a", "md5"}, strings.Fields(args)...), strings.NewReader(""), &out, &errs)
				if status != 130 || errs.Len() > 0 {
					t.Errorf("exit status %d, messages %q; want 130 and none", status, &errs)
				}
			})
		}
	}
}

// TestInterruptLargeFile stops a run in a file that takes for ever.
func TestInterruptLargeFile(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "large", "")
	if err := os.Truncate("large", 1<<42); err != nil {
		t.Skipf("no large files here: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	d := newDigester(nil)
	done := make(chan error)
	go func() {
		_, err := d.digest(ctx, result{item: item{path: "large"}, alg: algorithms[2]})
		done <- err
	}()
	for d.bytes.Load() < 2*bufferSize {
		runtime.Gosched()
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// TestSignals sends real ones to a process that waits for a pipe. No other test has a pipe
// of that name: runs in this process leave goroutines behind that may open theirs late,
// in the folder of this test.
func TestSignals(t *testing.T) {
	for _, test := range []struct {
		signal os.Signal
		status int
	}{{os.Interrupt, 130}, {syscall.SIGTERM, 143}, {syscall.SIGHUP, 129}} {
		if signal.Ignored(test.signal) { // under nohup, say: stint leaves it ignored then
			t.Logf("%v: ignored here", test.signal)
			continue
		}
		t.Chdir(t.TempDir())
		write(t, "out", "before\n")
		if err := exec.Command("mkfifo", "held").Run(); err != nil {
			t.Skipf("no named pipes here: %v", err)
		}
		cmd := exec.Command("stint", "sum", "-o", "out", "held")
		var errs strings.Builder
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w, err := os.OpenFile("held", os.O_WRONLY, 0) // waits for stint to open it
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if got := len(strings.Fields(names(t, "."))); got != 3 {
			t.Errorf("%d files while running, want 3: out, its temporary file and the pipe", got)
		}
		if err := cmd.Process.Signal(test.signal); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != test.status || errs.Len() > 0 {
			t.Errorf("%v: exit status %d, messages %q; want %d and none", test.signal, got, &errs, test.status)
		}
		if got := names(t, "."); got != "held out" {
			t.Errorf("%v: left behind: %s; want held out", test.signal, got)
		}
		if got, _ := os.ReadFile("out"); string(got) != "before\n" {
			t.Errorf("%v: out holds %q, want what it held before", test.signal, got)
		}
	}
}

// deaf is a command that takes an interrupt as stint does, and goes on.
func deaf() {
	ctx, _ := notify(context.Background(), os.Interrupt)
	fmt.Println("ignored", signal.Ignored(os.Interrupt))
	<-ctx.Done()
	fmt.Println("interrupted")
	select {}
}

// TestSecondInterruptKills interrupts a process until it ends, which it does
// only by the signal itself.
func TestSecondInterruptKills(t *testing.T) {
	if signal.Ignored(os.Interrupt) {
		t.Skip("interrupts are ignored here, and so by what is started here")
	}
	cmd := exec.Command("deaf")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for _, want := range []string{"ignored false", "interrupted"} {
		if lines.Scan(); lines.Text() != want {
			t.Errorf("the process says %q, want %q", lines.Text(), want)
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case err := <-done:
			if err == nil || err.Error() != "signal: interrupt" {
				t.Errorf("ended with %v, want signal: interrupt", err)
			}
			return
		case <-time.After(10 * time.Millisecond): // the last one came before the handler was gone: once more
			_ = cmd.Process.Signal(os.Interrupt)
		}
	}
}

// TestIgnoredInterruptStaysIgnored starts a process as a shell starts one that
// is to live on in the background.
func TestIgnoredInterruptStaysIgnored(t *testing.T) {
	cmd := exec.Command("sh", "-c", `trap "" INT; exec deaf`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("no shell here: %v", err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if line != "ignored true\n" {
		t.Errorf("the process says %q, want that it ignores interrupts", line)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// TestTerminatedInTheBackground starts what runs until it is told to end as a shell script does with
// "&", so that it ignores interrupts. A termination ends it, as the help says.
func TestTerminatedInTheBackground(t *testing.T) {
	url, _ := serve(t)
	for _, command := range []string{
		"stint serve --listen 127.0.0.1:0", "stint work --cluster " + url,
	} {
		cmd := exec.Command("sh", "-c", `trap "" INT; exec `+command+" 2>&1")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Skipf("no shell here: %v", err)
		}
		lines := bufio.NewReader(out)
		first, _ := lines.ReadString('\n')
		for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
			if err := cmd.Process.Signal(sig); err != nil {
				t.Errorf("%s: %v: %v", command, sig, err)
			}
		}
		rest, _ := io.ReadAll(lines)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: ended with %v, want status 0; it says %q, then %q", command, err, first, rest)
		}
	}
}

// TestOutputKeepsMode wants the permissions of a file that -o replaces.
func TestOutputKeepsMode(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a", "a\n")
	write(t, "out", "")
	if err := os.Chmod("out", 0o640); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat("out")
	if err != nil {
		t.Fatal(err)
	}
	runStint(t, "", "sum", "-o", "out", "a")
	after, err := os.Stat("out")
	if err != nil || os.SameFile(before, after) || after.Mode() != before.Mode() {
		t.Errorf("out is %v, %v; want another file with mode %v", after.Mode(), err, before.Mode())
	}
}

// names lists a directory, hidden files included.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// failing is an output on which every write fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestWriteErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a", "a\n")
	write(t, "list", "60b725f10c9c85c70d97880dfe8191b3  a\n")
	for _, args := range []string{"sum a", "sum --json a", "sum -a md5 -c list", "--help", "sum --help", "man sum", "--version", "completion bash"} {
		for _, test := range []struct {
			err    error
			want   string
			status int
		}{
			{&os.PathError{Op: "write", Path: "stdout", Err: syscall.ENOSPC}, "stint: write error: No space left on device\n", 1},
			{&os.PathError{Op: "write", Path: "stdout", Err: syscall.EPIPE}, "", 141},
			{io.ErrShortWrite, "stint: write error: short write\n", 1},
		} {
			var errs strings.Builder
			status := run(t.Context(), strings.Fields(args), strings.NewReader(""), failing{test.err}, &errs)
			if status != test.status || errs.String() != test.want {
				t.Errorf("%s: exit status %d, messages %q; want %d, %q", args, status, &errs, test.status, test.want)
			}
		}
	}
}

// TestWriteErrorEndsTheRun wants that nobody waits for files whose digests have
// nowhere to go, neither with a full buffer nor with one line in it.
func TestWriteErrorEndsTheRun(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a", "a\n")
	sum := "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7  a\n"
	for _, n := range []int{1, outputBuffer / len(sum), outputBuffer/len(sum) + 1, 10_000} {
		for line, args := range map[string][]string{"a\n": {"sum", "--files-from", "-"}, sum: {"sum", "-c"}} {
			in := io.MultiReader(strings.NewReader(strings.Repeat(line, n)), newEndless())
			var errs strings.Builder
			status := run(t.Context(), args, in, failing{syscall.ENOSPC}, &errs)
			if status != 1 || errs.String() != "stint: write error: No space left on device\n" {
				t.Errorf("%d files, %q: exit status %d, messages %q; want 1 and the write error", n, args, status, &errs)
			}
		}
	}
}

// TestOutputComesEarly wants a finished line while a later file is being read.
func TestOutputComesEarly(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a", "a\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	done := make(chan int)
	go func() {
		done <- run(ctx, []string{"sum", "-a", "md5", "a", "-"}, newEndless(), w, io.Discard)
		w.Close()
	}()
	line := make([]byte, 36)
	if _, err := io.ReadFull(r, line); err != nil || string(line) != "60b725f10c9c85c70d97880dfe8191b3  a\n" {
		t.Errorf("read %q, %v; want the line of a", line, err)
	}
	cancel()
	if status := <-done; status != 130 {
		t.Errorf("exit status %d, want 130", status)
	}
}

// TestOutputKeepsOrder has the first file finish last.
func TestOutputKeepsOrder(t *testing.T) {
	t.Chdir(t.TempDir())
	var want []string
	for i := range 200 {
		name := string(rune('a'+i/26)) + string(rune('a'+i%26))
		write(t, name, strings.Repeat("x", (200-i)*10_000))
		want = append(want, name)
	}
	out, _, _ := runStint(t, "", "sum", "-j", "4", ".")
	var got []string
	for line := range strings.Lines(out) {
		got = append(got, filepath.Base(strings.TrimSuffix(line, "\n")))
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("files in the order %v, want %v", got, want)
	}
}

// TestLargeFileHoldsNobodyUp has every other file read while the first one goes
// on and on.
func TestLargeFileHoldsNobodyUp(t *testing.T) {
	t.Chdir(t.TempDir())
	const n = 1000
	args := []string{"-"}
	for range n {
		args = append(args, "a")
	}
	write(t, "a", "12345678")
	o := options{algorithm: "md5", jobs: "2", progress: "never"}
	s, err := newSummer(&o, args, streams{newEndless(), io.Discard, io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.run(ctx) }()
	for s.digester.bytes.Load() < 8*n {
		runtime.Gosched()
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}
