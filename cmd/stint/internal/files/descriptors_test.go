package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"testing"
)

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
		d, b := new(Descriptors), &bounded{free: free}
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				for range 200 {
					f, err := Open(t.Context(), d, "", b.open)
					if err != nil {
						t.Errorf("of %d: %v, want that it waits", free, err)
						return
					}
					d.Close(f)
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
	d, b := new(Descriptors), new(bounded)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := Open(t.Context(), d, "", b.open); !errors.Is(err, syscall.EMFILE) {
				t.Errorf("error %v, want EMFILE", err)
			}
		})
	}
	wg.Wait()
	b.free = 1
	if _, err := Open(t.Context(), d, "", b.open); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("cause")
	cancel(cause)
	if _, err := Open(ended, d, "", b.open); err != cause {
		t.Errorf("error %v after the end of the run, want its cause", err)
	}
	d.Exempt() // a list, which is read to its end only if its files are
	if _, err := Open(t.Context(), d, "", b.open); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("error %v beside a list, want EMFILE", err)
	}
	denied := func(string) (io.Closer, error) { return nil, fmt.Errorf("no: %w", syscall.EACCES) }
	if _, err := Open(t.Context(), d, "", denied); !errors.Is(err, syscall.EACCES) {
		t.Errorf("error %v, want EACCES", err)
	}
}
