package sum

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/files"
	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// TestInterruptLargeFile stops a run in a file that takes hours.
func TestInterruptLargeFile(t *testing.T) {
	testfiles.Dir(t, "large", "")
	if err := os.Truncate("large", 1<<42); err != nil {
		t.Skipf("no large files here: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	d := newDigester(nil)
	done := make(chan error)
	go func() {
		_, err := d.read(ctx, result{Item: files.Item{Path: "large"}, alg: algorithms[2]})
		done <- err
	}()
	for d.bytes.Load() < 2*readSize {
		runtime.Gosched()
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// TestEndlessFileBlocksNoOther reads all other files while the first never ends.
func TestEndlessFileBlocksNoOther(t *testing.T) {
	t.Chdir(t.TempDir())
	const n = 1000
	args := []string{"-"}
	for range n {
		args = append(args, "a")
	}
	testfiles.Write(t, "a", "12345678")
	stdin, _ := io.Pipe() // on which nothing ever comes
	o := Options{Algorithm: "md5", Progress: "never"}
	if err := o.Jobs.Set("2"); err != nil {
		t.Fatal(err)
	}
	s, err := New(&o, args, console.Streams{Stdin: stdin, Stdout: io.Discard, Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	for s.digester.bytes.Load() < 8*n {
		runtime.Gosched()
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// TestFileBecomesPipe puts a pipe, to which nobody writes, where the walk has seen a file.
func TestFileBecomesPipe(t *testing.T) {
	t.Chdir(t.TempDir())
	testfiles.Pipe(t, "file")
	path, err := filepath.Abs("file")
	if err != nil {
		t.Fatal(err)
	}
	d := newDigester(nil)
	if r, err := d.read(t.Context(), result{Item: files.Item{Path: path}, alg: algorithms[0]}); r.Err != files.ErrNotRegular || err != nil {
		t.Errorf("the pipe: %v, %v; want %v", r.Err, err, files.ErrNotRegular)
	}
	if a, err := d.respond(t.Context(), request{[]byte(path), "md5"}); string(a.Error) != errNotShared.Error() || err != nil {
		t.Errorf("the pipe, on a worker: %+v, %v; want %v", a, err, errNotShared)
	}
}
