package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// TestFewDescriptors reads more files at a time than may be open.
func TestFewDescriptors(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("tree", 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		name := fmt.Sprint("tree/", i)
		write(t, name, name)
		if err := os.Truncate(name, 2<<20); err != nil { // so that many are read at once
			t.Fatal(err)
		}
	}
	want, _, _ := runStint(t, "", "sum", "-a", "md5", "tree")
	write(t, "sums", want)
	wantCheck, _, _ := runStint(t, "", "sum", "-a", "md5", "-c", "sums")
	for args, want := range map[string]string{"tree": want, "--progress=always tree": want, "-c sums": wantCheck} {
		cmd := exec.Command("sh", "-c", "ulimit -n 20 && exec stint sum -a md5 -j 64 "+args)
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil || out.String() != want {
			t.Errorf("%s: %v, messages %q, output %s", args, err, &errs, difference(out.String(), want))
		}
	}
}

// bounded opens as many files as there are, and no more.
type bounded struct {
	mu   sync.Mutex
	free int
}

func (b *bounded) open(string) (io.Closer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.free == 0 {
		return nil, syscall.EMFILE
	}
	b.free--
	return b, nil
}

func (b *bounded) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free++
	return nil
}

// TestDescriptors opens and closes from many sides at once.
func TestDescriptors(t *testing.T) {
	for _, free := range []int{1, 2, 7} {
		d, b := new(descriptors), &bounded{free: free}
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				for range 200 {
					f, err := opened(t.Context(), d, "", b.open)
					if err != nil {
						t.Errorf("of %d: %v, want that it waits", free, err)
						return
					}
					d.close(f)
				}
			})
		}
		wg.Wait()
		if d.held != 0 || b.free != free {
			t.Errorf("of %d: %d are held and %d free in the end", free, d.held, b.free)
		}
	}
}

// TestNoDescriptor wants an error where nothing is open that could be closed, and where
// the run has ended.
func TestNoDescriptor(t *testing.T) {
	d, b := new(descriptors), new(bounded)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := opened(t.Context(), d, "", b.open); !errors.Is(err, syscall.EMFILE) {
				t.Errorf("error %v, want EMFILE", err)
			}
		})
	}
	wg.Wait()
	b.free = 1
	if _, err := opened(t.Context(), d, "", b.open); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("cause")
	cancel(cause)
	if _, err := opened(ended, d, "", b.open); err != cause {
		t.Errorf("error %v after the end of the run, want its cause", err)
	}
	d.keep() // a list, which is read to its end only if its files are
	if _, err := opened(t.Context(), d, "", b.open); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("error %v beside a list, want EMFILE", err)
	}
	denied := func(string) (io.Closer, error) { return nil, fmt.Errorf("no: %w", syscall.EACCES) }
	if _, err := opened(t.Context(), d, "", denied); !errors.Is(err, syscall.EACCES) {
		t.Errorf("error %v, want EACCES", err)
	}
}
