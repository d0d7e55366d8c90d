package tests

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// consumer returns the one through which workers get the tasks with that token for a name.
func (c counter) consumer(t *testing.T, token string) jetstream.Consumer {
	t.Helper()
	got, err := c.js.Consumer(bounded(t), "stint-tasks", token)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// take takes n tasks "work/v1" by hand, as a worker does.
func (c counter) take(t *testing.T, n int) []jetstream.Msg {
	t.Helper()
	batch, err := c.consumer(t, "work=v1").Fetch(n, jetstream.FetchMaxWait(patience))
	if err != nil {
		t.Fatal(err)
	}
	var all []jetstream.Msg
	for m := range batch.Messages() {
		all = append(all, m)
	}
	if len(all) != n {
		t.Fatalf("got %d tasks of %d: %v", len(all), n, batch.Error())
	}
	return all
}

// lose takes n tasks by hand so many times, and ends none, like workers that die.
func (c counter) lose(t *testing.T, n, times int) {
	t.Helper()
	for range times {
		for _, m := range c.take(t, n) {
			giveBack(t, m)
		}
	}
}

// giveBack gives a task back that was taken by hand.
func giveBack(t *testing.T, m jetstream.Msg) {
	t.Helper()
	if err := m.Nak(); err != nil {
		t.Fatal(err)
	}
}

// given returns how many times tasks with that token were given to workers.
func (c counter) given(t *testing.T, token string) int {
	t.Helper()
	return int(c.consumer(t, token).CachedInfo().Delivered.Consumer)
}

// giving waits until tasks "work/v1" were given to workers n times.
func (c counter) giving(t *testing.T, n int) {
	t.Helper()
	eventually(t, fmt.Sprint("tasks are given ", n, " times"), func() bool { return c.given(t, "work=v1") >= n })
}

// workers waits until a worker asks for tasks "work/v1".
func (c counter) workers(t *testing.T) {
	t.Helper()
	eventually(t, "a worker asks for tasks", func() bool {
		consumer, err := c.js.Consumer(bounded(t), "stint-tasks", "work=v1")
		return err == nil && consumer.CachedInfo().NumWaiting > 0
	})
}

// kept returns how many results the server has.
func (c counter) kept(t *testing.T) int {
	t.Helper()
	results, err := c.js.Stream(bounded(t), "stint-results")
	if err != nil {
		t.Fatal(err)
	}
	return int(results.CachedInfo().State.Msgs)
}

// never fails the test if the events satisfy bad within a moment. Correct code passes on any
// machine; a slow machine may miss a defect.
func (j journal) never(t *testing.T, what string, bad func([]event) bool) {
	t.Helper()
	r := reader{journal: j}
	for end := time.Now().Add(moment); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if r.more(t); bad(r.events) {
			t.Fatal(what)
		}
	}
}

// moment is how long a test looks whether something happens that should not.
const moment = 300 * time.Millisecond
