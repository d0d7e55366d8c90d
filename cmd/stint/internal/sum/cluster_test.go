package sum

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"
)

// FuzzTask has a worker answer any request, and a submitter take the answer, without a panic. A
// digest is as long as its algorithm says, and has no other error beside it.
func FuzzTask(f *testing.F) {
	for _, body := range []string{
		`{}`, `null`, `[]`, "\xff", `{"path":"L2E=","algorithm":"md5"}`, `{"path":"/w==","algorithm":"md5"}`, `{"algorithm":"blake2b"}`,
		`{"path":1}`, `{"path":"","algorithm":"x"}`, `{"path":"AA==","algorithm":"sha256"}`, `{"path":"L2E=","algorithm":-1}`,
	} {
		f.Add([]byte(body))
	}
	d := newDigester(nil)
	d.open = func(context.Context, string) (*os.File, error) { return os.Open(os.DevNull) }
	f.Fuzz(func(t *testing.T, body []byte) {
		var q request
		if json.Unmarshal(body, &q) != nil {
			return
		}
		a, err := d.respond(t.Context(), q)
		alg, ok := algorithmByName(q.Algorithm)
		if !ok {
			alg = algorithms[0]
		}
		r := result{alg: alg}
		if r.complete(&response{Digest: make([]byte, alg.size-1)}, nil); r.Err == nil {
			t.Error("a digest that is too short is taken")
		}
		r = result{alg: alg}
		if r.complete(&a, err); r.Err == nil && (!ok || len(a.Digest) != alg.size) {
			t.Errorf("%q: %+v, %v", body, a, err)
		}
	})
}

// TestWorkerGivesUp reads a file of a file server that does not answer, until the task ends.
func TestWorkerGivesUp(t *testing.T) {
	d := newDigester(nil)
	ctx, cancel := context.WithCancel(t.Context())
	d.open = func(context.Context, string) (*os.File, error) {
		cancel()
		select {}
	}
	if _, err := d.respond(ctx, request{[]byte("/file"), "md5"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}
