package tests

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stint-go/stint/cluster"
)

// payload is the maximum message size of the servers of these tests.
const payload = 1 << 16

// tooLarge fails the test if err does not say that an item or a result is too large, and
// its size.
func tooLarge(t *testing.T, err error) {
	t.Helper()
	wrong(t, err, cluster.ErrTooLarge)
	if err != nil && len(regexp.MustCompile(`\d{5,}`).FindAllString(err.Error(), -1)) < 2 {
		t.Errorf("error %q: want both sizes", err)
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	const n, bad = 10, 4
	for name, in := range map[string]item{
		"item":   {N: bad, Text: strings.Repeat("x", 2*payload)},
		"result": {N: 2 * payload, Do: "big"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := newServer(t, func(o *server.Options) { o.MaxPayload = payload })
			client, j := connect(t, where), newJournal(t)
			serve(t, connect(t, where), 2, newTask(j))
			all := items(n, item{})
			all[bad] = in
			_, err := cluster.Map(bounded(t), client, newTask(j), all)
			tooLarge(t, err)
			look(t, where).nothingLeft(t)

			outs, err := cluster.Map(bounded(t), client, newTask(j), all, cluster.KeepGoing())
			errs := itemErrors(t, err)
			if len(errs) != 1 {
				t.Fatalf("errors: got %v, want one", err)
			}
			tooLarge(t, errs[bad])
			for i, out := range outs {
				if i != bad && out.N != answer(i) {
					t.Errorf("result %d is %+v", i, out)
				}
			}
			look(t, where).nothingLeft(t)
		})
	}
}

// An item or a result that cannot be encoded or decoded is an error of the item.
func TestCodecFails(t *testing.T) {
	t.Parallel()
	const n, bad = 10, 4
	for _, when := range []string{"item written", "item read", "result written", "result read"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			where, j := newServer(t), newJournal(t)
			task := newTask(j, picky(when))
			serve(t, connect(t, where), 2, task)
			all := items(n, item{})
			all[bad].Text, all[bad].Do, all[bad].N = when, "echo", bad
			_, err := cluster.Map(bounded(t), connect(t, where), task, all, cluster.KeepGoing())
			errs := itemErrors(t, err)
			if len(errs) != 1 || errs[bad] == nil || !strings.Contains(errs[bad].Error(), when+" badly") {
				t.Errorf("error: got %v", err)
			}
			look(t, where).nothingLeft(t)
		})
	}
}

// picky is a codec that fails when it has to do with a Text like when.
func picky(when string) cluster.TaskOption {
	check := func(text, now string) error {
		if text == when && now == when {
			return errors.New(when + " badly")
		}
		return nil
	}
	return cluster.Codec(
		func(v any) ([]byte, error) {
			switch v := v.(type) {
			case item:
				if err := check(v.Text, "item written"); err != nil {
					return nil, err
				}
			case outcome:
				if err := check(v.Text, "result written"); err != nil {
					return nil, err
				}
			}
			return json.Marshal(v)
		},
		func(data []byte, v any) error {
			if err := json.Unmarshal(data, v); err != nil {
				return err
			}
			switch v := v.(type) {
			case *item:
				return check(v.Text, "item read")
			case *outcome:
				return check(v.Text, "result read")
			}
			return nil
		},
	)
}
