package cluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
)

// newKnown returns what a worker knows of runs, that has the record which get returns, and
// how often it has asked for it.
func newKnown(get func() *record) (v *liveRuns, asked *int) {
	e := &Engine{nc: new(nats.Conn), life: context.Background()}
	v, asked = newLiveRuns(e, newLeases(e)), new(int)
	v.read = func(context.Context, string) (*record, error) {
		*asked++
		return get(), nil
	}
	return v, asked
}

// looks asks for the state of a run as often as that, for tasks that come one each
// second.
func looks(t *testing.T, v *liveRuns, key string, times int) (last state) {
	t.Helper()
	for range times {
		for range 10 { // slots
			var err error
			if last, err = v.look(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
	}
	return last
}

// A run that is alive is asked for once in a while, and not for each task.
func TestRunIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, asked := newKnown(func() *record { return &record{Key: "run"} })
		defer v.end()
		if s := looks(t, v, "run", 300); s != live || *asked != 10 {
			t.Errorf("after 3000 tasks in 300 s: state %v, asked %d times; want %v, 10", s, *asked, live)
		}
	})
}

// A run that has lost its record is missing when what is known of it is old, and over some
// time later.
func TestRunOfADeadSubmitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &record{Key: "run"}
		v, asked := newKnown(func() *record { return rec })
		defer v.end()
		looks(t, v, "run", 1)
		rec = nil
		if s := looks(t, v, "run", int(believed/time.Second)-1); s != live {
			t.Errorf("state %v, want that it is believed", s)
		}
		if s := looks(t, v, "run", 1); s != missing {
			t.Errorf("state %v, want %v", s, missing)
		}
		gone := make(chan bool)
		go func() { gone <- v.dead(t.Context(), "run") }()
		if s := looks(t, v, "run", int(deadAfter/time.Second)+3); s != over || !<-gone || *asked > 10 {
			t.Errorf("state %v, asked %d times; want %v, 10 at most", s, *asked, over)
		}
		rec = &record{Key: "run"}
		if s := looks(t, v, "run", 100); s != over {
			t.Errorf("state %v, want that it stays over", s)
		}
	})
}

// A submitter that was cut off writes its record again: its tasks are given back.
func TestRunIsMissingForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rec *record
		v, _ := newKnown(func() *record { return rec })
		defer v.end()
		if s := looks(t, v, "run", 1); s != missing {
			t.Errorf("state %v, want %v", s, missing)
		}
		gone := make(chan bool)
		go func() { gone <- v.dead(t.Context(), "run") }()
		rec = &record{Key: "run"}
		if s := looks(t, v, "run", 3); s != live || <-gone {
			t.Errorf("state %v, want %v, and that it was not over", s, live)
		}
	})
}

// A server that does not answer says nothing about a run.
func TestRunIsNotKnown(t *testing.T) {
	v, _ := newKnown(nil)
	defer v.end()
	away := errors.New("away")
	v.read = func(context.Context, string) (*record, error) { return nil, away }
	if s, err := v.look(t.Context(), "run"); s != unknown || err != away || v.state("run") != unknown {
		t.Errorf("got %v, %v, want that nothing is known", s, err)
	}
}

// A worker that purges says for how long others need not. What is no such word is taken
// for a minute.
func TestOneWorkerPurges(t *testing.T) {
	v, _ := newKnown(nil)
	defer v.end()
	for said, want := range map[string]time.Duration{
		"": time.Minute, "0s": time.Minute, "what is this": time.Minute, "-5m": time.Minute,
		"4m0s": 4 * time.Minute, "9999h": time.Hour, "99999999999h": time.Minute,
	} {
		v.heard(&nats.Msg{Subject: "stint.over." + purging, Data: []byte(said)})
		if got := <-v.purged; got != want {
			t.Errorf("%q: others wait %v, want %v", said, got, want)
		}
	}
	if v.state(purging) != unknown {
		t.Error("it was taken for a run that is over")
	}
}
