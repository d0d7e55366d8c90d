package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/interrupt"
	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// endless is a standard input on which nothing ever comes. It closes waiting when the
// first read starts.
type endless struct {
	once    sync.Once
	waiting chan struct{}
}

func newEndless() *endless { return &endless{waiting: make(chan struct{})} }

func (e *endless) Read([]byte) (int, error) {
	e.once.Do(func() { close(e.waiting) })
	select {}
}

// TestInterruptWhileReading interrupts runs that wait for standard input, for each of its uses, or
// for a named pipe: for its other end, or for bytes. It wants no files left.
func TestInterruptWhileReading(t *testing.T) {
	for _, args := range []string{"-", "-o out a -", "--files-from -", "-c", "-c list -", "-o out --files-from - -0", "--progress=always a -",
		"pipe", "a pipe", "--files-from pipe", "-c pipe", "-c list", "-o pipe a", "opened pipe", "opened --files-from pipe", "opened -c pipe"} {
		t.Run(args, func(t *testing.T) {
			args, opened := strings.CutPrefix(args, "opened ")
			testfiles.Dir(t, "a", "a\n", "list", "60b725f10c9c85c70d97880dfe8191b3  pipe\n")
			testfiles.Pipe(t, "pipe")
			ctx, cancel := context.WithCancel(t.Context())
			in := newEndless()
			go func() {
				defer cancel()
				switch {
				case opened:
					w, err := os.OpenFile("pipe", os.O_WRONLY, 0) // waits for the reader
					if err != nil {
						t.Error(err)
						return
					}
					t.Cleanup(func() { w.Close() })
				case !strings.Contains(args, "pipe") && args != "-c list":
					<-in.waiting
				}
			}()
			var out, errs strings.Builder
			status := execute(ctx, append([]string{"sum", "-a", "md5"}, strings.Fields(args)...), console.Streams{Stdin: in, Stdout: &out, Stderr: &errs})
			if status != 130 || errs.Len() > 0 && !strings.Contains(args, "progress") {
				t.Errorf("exit status %d, messages %q; want 130 and none", status, &errs)
			}
			if names := names(t); names != "a list pipe" {
				t.Errorf("left behind: %s; want a list pipe", names)
			}
		})
	}
}

// TestSignals sends signals to a process that waits for a pipe. No other test has a pipe
// of that name: interrupted runs in this process leave goroutines that may open theirs
// late, in the directory of this test.
func TestSignals(t *testing.T) {
	for _, test := range []struct {
		signal os.Signal
		status int
	}{{os.Interrupt, 130}, {syscall.SIGTERM, 143}, {syscall.SIGHUP, 129}, {syscall.SIGQUIT, 131}} {
		testfiles.Dir(t, "out", "before\n")
		testfiles.Pipe(t, "held")
		cmd := exec.Command("stint", "sum", "-o", "out", "held")
		var errs strings.Builder
		cmd.Stderr = &errs
		must(t, cmd.Start())
		w, err := os.OpenFile("held", os.O_WRONLY, 0) // waits for stint to open it
		must(t, err)
		defer w.Close()
		if got := len(strings.Fields(names(t))); got != 3 {
			t.Errorf("%d files while running, want 3: out, its temporary file and the pipe", got)
		}
		must(t, cmd.Process.Signal(test.signal))
		_ = cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != test.status || errs.Len() > 0 {
			t.Errorf("%v: exit status %d, messages %q; want %d and none", test.signal, got, &errs, test.status)
		}
		if got := names(t); got != "held out" {
			t.Errorf("%v: left behind: %s; want held out", test.signal, got)
		}
		if got, _ := os.ReadFile("out"); string(got) != "before\n" {
			t.Errorf("%v: out holds %q, want what it held before", test.signal, got)
		}
	}
}

// deaf is a command that handles signals like stint, and does not end. With an argument it
// waits for two, like stint run.
func deaf() {
	ctx, _ := interrupt.Notify(context.Background())
	second := context.Background()
	if len(os.Args) > 1 {
		second = interrupt.Second(ctx)
	}
	fmt.Println("ignored", signal.Ignored(os.Interrupt))
	<-ctx.Done()
	fmt.Println("first:", context.Cause(ctx))
	<-second.Done()
	fmt.Println("second")
	select {}
}

// TestLastSignalKills sends signals to a process until one kills it. None prints goroutines.
func TestLastSignalKills(t *testing.T) {
	for _, test := range []struct {
		signals []os.Signal // the last one is repeated
		lines   []string
		end     string
	}{
		{[]os.Signal{os.Interrupt}, []string{"first: interrupt"}, "signal: interrupt"},
		{[]os.Signal{syscall.SIGQUIT}, []string{"first: quit"}, "exit status 131"},
		{[]os.Signal{syscall.SIGQUIT, syscall.SIGTERM}, []string{"first: quit"}, "signal: terminated"},
		{[]os.Signal{os.Interrupt}, []string{"first: interrupt", "second"}, "signal: interrupt"},
		{[]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, []string{"first: interrupt", "second"}, "signal: hangup"},
		{[]os.Signal{syscall.SIGQUIT}, []string{"first: quit", "second"}, "exit status 131"},
	} {
		var errs strings.Builder
		cmd := spawn(t, false, "deaf", []string{"twice"}[:len(test.lines)-1]...)
		cmd.Stderr = &errs
		if line := cmd.line(); line != "ignored false" {
			t.Errorf("the process prints %q", line)
		}
		for i, want := range test.lines {
			must(t, cmd.Process.Signal(test.signals[min(i, len(test.signals)-1)]))
			if line := cmd.line(); line != want {
				t.Errorf("the process prints %q, want %q", line, want)
			}
		}
		done := make(chan error)
		go func() { done <- cmd.Wait() }()
		for ended := false; !ended; {
			select {
			case err := <-done:
				if ended = true; err == nil || err.Error() != test.end {
					t.Errorf("%v: ended with %v, want %v", test.signals, err, test.end)
				}
			case <-time.After(10 * time.Millisecond): // the last one came before the handler was removed
				_ = cmd.Process.Signal(test.signals[len(test.signals)-1])
			}
		}
		if errs.Len() > 0 {
			t.Errorf("%v: messages %.200q, want none", test.signals, &errs)
		}
	}
}

// TestIgnoredInterruptStaysIgnored starts a process as a shell starts a background job.
func TestIgnoredInterruptStaysIgnored(t *testing.T) {
	cmd := spawn(t, false, "sh", "-c", `trap "" INT; exec deaf`)
	if line := cmd.line(); line != "ignored true" {
		t.Errorf("the process prints %q, want that it ignores interrupts", line)
	}
}

// TestTerminatedInTheBackground starts servers and workers as a shell script does with
// "&": they ignore interrupts. A termination ends them, as the help says.
func TestTerminatedInTheBackground(t *testing.T) {
	url, _ := serve(t)
	for _, test := range []struct {
		command string
		end     os.Signal
	}{
		{"stint serve --listen 127.0.0.1:0", syscall.SIGTERM},
		{"stint serve --listen 127.0.0.1:0", syscall.SIGQUIT},
		{"stint work --cluster " + url, syscall.SIGTERM},
		{"stint work --run --cluster " + url, syscall.SIGQUIT},
	} {
		command, end := test.command, test.end
		cmd := spawn(t, false, "sh", "-c", `trap "" INT; exec `+command+" 2>&1")
		first := cmd.line()
		for _, sig := range []os.Signal{os.Interrupt, end} {
			if err := cmd.Process.Signal(sig); err != nil {
				t.Errorf("%s: %v: %v", command, sig, err)
			}
		}
		rest, _ := io.ReadAll(cmd.lines)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: ended with %v, want status 0; it prints %q, then %q", command, err, first, rest)
		}
	}
}

// TestReaderLeaves reads one line of the output and closes it. The run ends, and leaves
// nothing on the server.
func TestReaderLeaves(t *testing.T) {
	grow(t)
	testfiles.Write(t, "many", strings.Repeat("names\n", 20_000))
	url, _ := serve(t)
	worker(t, "--cluster", url)
	for _, args := range [][]string{{"--files-from", "many"}, {"--files-from", "many", "--cluster", url}} {
		cmd := exec.Command("stint", append([]string{"sum"}, args...)...)
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		if line, err := bufio.NewReaderSize(out, 16).ReadString('\n'); err != nil || !strings.HasSuffix(line, "  names\n") {
			t.Errorf("%q: read %q, %v; want a line", args, line, err)
		}
		out.Close()
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 141 || errs.Len() > 0 {
			t.Errorf("%q: %v, messages %q; want exit status 141 and none", args, err, &errs)
		}
	}
	if s := state(t, url); len(s.Runs) > 0 {
		t.Errorf("left on the server: %+v", s.Runs)
	}
	until(t, url, "nothing is queued", func(s *cluster.Status) bool { return s.Tasks[0].Queued+s.Tasks[0].InFlight == 0 })
}

// TestMessagesHaveNoReader closes the reader of the messages, and wants the results.
func TestMessagesHaveNoReader(t *testing.T) {
	testfiles.Dir(t, "a", "a\n")
	r, w, err := os.Pipe()
	must(t, err)
	r.Close()
	defer w.Close()
	cmd := exec.Command("stint", "sum", "-a", "md5", "-o", "out", "missing", "a")
	cmd.Stderr = w
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%v, want exit status 1", err)
	}
	if got, _ := os.ReadFile("out"); string(got) != "60b725f10c9c85c70d97880dfe8191b3  a\n" || names(t) != "a out" {
		t.Errorf("the files %s, and out holds %q; want a and out, with the line of a", names(t), got)
	}
}
