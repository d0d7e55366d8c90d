package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// failing is an output on which every write fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestWriteErrors(t *testing.T) {
	testfiles.Dir(t, "a", "a\n", "list", "60b725f10c9c85c70d97880dfe8191b3  a\n")
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
			status := execute(t.Context(), strings.Fields(args), console.Streams{Stdin: strings.NewReader(""), Stdout: failing{test.err}, Stderr: &errs})
			if status != test.status || errs.String() != test.want {
				t.Errorf("%s: exit status %d, messages %q; want %d, %q", args, status, &errs, test.status, test.want)
			}
		}
	}
}

// TestWriteErrorEndsTheRun wants that a write error ends a run that waits for its input,
// with a full output buffer and with one line in it.
func TestWriteErrorEndsTheRun(t *testing.T) {
	testfiles.Dir(t, "a", "a\n")
	sum := "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7  a\n"
	full := 32 << 10 / len(sum) // lines in the buffer
	for _, n := range []int{1, full, full + 1, 10_000} {
		for line, args := range map[string][]string{"a\n": {"sum", "--files-from", "-"}, sum: {"sum", "-c"}} {
			in := io.MultiReader(strings.NewReader(strings.Repeat(line, n)), newEndless())
			var errs strings.Builder
			status := execute(t.Context(), args, console.Streams{Stdin: in, Stdout: failing{syscall.ENOSPC}, Stderr: &errs})
			if status != 1 || errs.String() != "stint: write error: No space left on device\n" {
				t.Errorf("%d files, %q: exit status %d, messages %q; want 1 and the write error", n, args, status, &errs)
			}
		}
	}
}

// TestOutputComesEarly wants a finished line while a later file is being read.
func TestOutputComesEarly(t *testing.T) {
	testfiles.Dir(t, "a", "a\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	done := make(chan int)
	go func() {
		done <- execute(ctx, []string{"sum", "-a", "md5", "a", "-"}, console.Streams{Stdin: newEndless(), Stdout: w, Stderr: io.Discard})
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

// TestErrorsAreOneLine prints hostile errors of every type.
func TestErrorsAreOneLine(t *testing.T) {
	plain := errors.New(hostile)
	for _, err := range []error{console.Failure(hostile), &console.WriteError{Err: plain}, &usageError{plain, "stint"}, plain} {
		var errs strings.Builder
		status(err, console.New(&errs))
		lines := strings.Split(strings.TrimSuffix(errs.String(), "\n"), "\n")
		if len(lines) > 2 || !console.Printable(strings.Join(lines, "")) || len(lines) == 2 && !strings.HasPrefix(lines[1], "Try ") {
			t.Errorf("%T: messages %q", err, &errs)
		}
	}
}
