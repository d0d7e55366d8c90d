package cluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
)

// heartbeat is the default.
const heartbeat = 15 * time.Second

// newKnown returns the run states of a worker, for which get returns the record, and the number
// of reads.
func newKnown(get func() *record) (v *runStates, asked *int) {
	c := &Client{conf: configure("", nil), nc: new(nats.Conn), life: context.Background()}
	v, asked = newRunStates(c, newLeases(c)), new(int)
	v.read = func(context.Context, string) (*record, error) {
		*asked++
		return get(), nil
	}
	return v, asked
}

// looks looks a run up once a second, so many times, for ten slots.
func looks(t *testing.T, v *runStates, key string, times int) (last state) {
	t.Helper()
	for range times {
		for range 10 { // slots
			var err error
			if last, err = v.lookup(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
	}
	return last
}

// The record of a live run is read now and then, not for each task.
func TestRunIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, asked := newKnown(func() *record { return &record{Key: "run"} })
		defer v.end()
		if s := looks(t, v, "run", 300); s != live || *asked != 10 {
			t.Errorf("after 3000 tasks in 300 s: state %v, asked %d times; want %v, 10", s, *asked, live)
		}
	})
}

// A run without a record is missing when its cached state is old, and over a heartbeat later.
func TestRunOfADeadSubmitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &record{Key: "run"}
		v, asked := newKnown(func() *record { return rec })
		defer v.end()
		looks(t, v, "run", 1)
		rec = nil
		if s := looks(t, v, "run", int(2*heartbeat/time.Second)-1); s != live {
			t.Errorf("state %v, want that it is believed", s)
		}
		if s := looks(t, v, "run", 1); s != missing {
			t.Errorf("state %v, want %v", s, missing)
		}
		gone := make(chan bool)
		go func() { gone <- v.awaitOver(t.Context(), "run") }()
		if s := looks(t, v, "run", int(heartbeat/time.Second)+3); s != over || !<-gone || *asked > 10 {
			t.Errorf("state %v, asked %d times; want %v, 10 at most", s, *asked, over)
		}
		rec = &record{Key: "run"}
		if s := looks(t, v, "run", 100); s != over {
			t.Errorf("state %v, want that it stays over", s)
		}
	})
}

// A missing run is live again when its submitter writes the record again.
func TestRunIsMissingForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rec *record
		v, _ := newKnown(func() *record { return rec })
		defer v.end()
		if s := looks(t, v, "run", 1); s != missing {
			t.Errorf("state %v, want %v", s, missing)
		}
		gone := make(chan bool)
		go func() { gone <- v.awaitOver(t.Context(), "run") }()
		rec = &record{Key: "run"}
		if s := looks(t, v, "run", 3); s != live || <-gone {
			t.Errorf("state %v, want %v, and that it was not over", s, live)
		}
	})
}

// A worker is paused for longer than a heartbeat while an answer is on its way, which says that
// the record is missing. Its submitter writes the record again meanwhile. The run is not over.
func TestAnswerIsReadLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := time.Duration(0)
		var rec *record
		v, _ := newKnown(func() *record {
			answer := rec
			time.Sleep(late)
			return answer
		})
		defer v.end()
		looks(t, v, "run", 3)
		late = 2 * heartbeat
		if s, err := v.lookup(t.Context(), "run"); s != missing || err != nil {
			t.Errorf("state %v, %v, want %v", s, err, missing)
		}
		time.Sleep(heartbeat)
		late, rec = 0, &record{Key: "run"}
		if s := looks(t, v, "run", 1); s != live {
			t.Errorf("state %v, want %v", s, live)
		}
	})
}

// Without an answer of the server the state of a run stays unknown.
func TestRunIsNotKnown(t *testing.T) {
	v, _ := newKnown(nil)
	defer v.end()
	away := errors.New("away")
	v.read = func(context.Context, string) (*record, error) { return nil, away }
	if s, err := v.lookup(t.Context(), "run"); s != unknown || err != away || v.state("run") != unknown {
		t.Errorf("got %v, %v, want that nothing is known", s, err)
	}
}

// A worker that purges announces for how long others need not. A malformed announcement counts
// as a minute.
func TestOneWorkerPurges(t *testing.T) {
	v, _ := newKnown(nil)
	defer v.end()
	for said, want := range map[string]time.Duration{
		"": time.Minute, "0s": time.Minute, "what is this": time.Minute, "-5m": time.Minute,
		"4m0s": 4 * time.Minute, "9999h": time.Hour, "99999999999h": time.Minute,
	} {
		v.onOver(&nats.Msg{Subject: "stint.over." + purgeKey, Data: []byte(said)})
		if got := <-v.purged; got != want {
			t.Errorf("%q: others wait %v, want %v", said, got, want)
		}
	}
	if v.state(purgeKey) != unknown {
		t.Error("it was taken for a run that is over")
	}
}
