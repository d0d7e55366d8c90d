package sum

import (
	"context"
	"errors"
	"io"
	"testing"
)

// TestWorkerRefuses sends a worker requests that no command of this version sends.
func TestWorkerRefuses(t *testing.T) {
	d := newDigester(nil)
	for _, q := range []request{{[]byte("/etc/passwd"), "crc32"}, {[]byte("relative"), "md5"}} {
		if got, err := d.respond(t.Context(), q); err == nil {
			t.Errorf("%q: %+v, want an error", q, got)
		}
	}
	alg, _ := algorithmByName("md5")
	r := result{alg: alg}
	if r.complete(&response{Digest: make([]byte, alg.size-1)}, nil); r.Err == nil {
		t.Error("a digest that is too short is taken")
	}
}

// TestWorkerGivesUp reads a file of a file server that does not answer, until the task ends.
func TestWorkerGivesUp(t *testing.T) {
	d := newDigester(nil)
	ctx, cancel := context.WithCancel(t.Context())
	d.open = func(string) (io.ReadCloser, error) {
		cancel()
		select {}
	}
	if _, err := d.respond(ctx, request{[]byte("/file"), "md5"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}
