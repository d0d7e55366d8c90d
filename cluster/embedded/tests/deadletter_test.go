package tests

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint/cluster"
)

// poisoned makes a run of n items with that name, whose submitter is gone and whose first item is a
// dead letter. It returns the ID of that.
func poisoned(t *testing.T, where string, j journal, n int, name string) string {
	t.Helper()
	client, counter := connect(t, where), look(t, where)
	c := begin(bounded(t), client, newTask(j), items(n, item{}), cluster.Name(name), cluster.KeepGoing())
	counter.queued(t, n)
	eventually(t, "all is submitted", func() bool { return counter.submitted(t, name) == n })
	counter.lose(t, n, 2)
	key := strings.Split(counter.subjects(t, "stint-tasks")[0], ".")[3]
	for _, mark := range []string{"a", "b"} {
		counter.publish(t, "stint.alone."+key+".0."+mark, "")
	}
	client.Close()
	<-c.done
	return key + "/0"
}

// deadLetters returns the IDs of all dead letters.
func deadLetters(t *testing.T, c *cluster.Client) (ids []string) {
	t.Helper()
	for a, err := range c.DeadLetters(bounded(t)) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, a.ID)
	}
	return ids
}

// A dead letter goes back into its run until its error was delivered.
func TestRetryDeadLetter(t *testing.T) {
	t.Parallel()
	const n = 3
	where, j := newServer(t), newJournal(t)
	id := poisoned(t, where, j, n, "nightly")
	client, counter := connect(t, where), look(t, where)
	serve(t, connect(t, where), 2, newTask(j))
	counter.queued(t, 0)
	equal(t, "dead letters", fmt.Sprint(deadLetters(t, client)), fmt.Sprint([]string{id}))
	equal(t, "runs of it", count(j.events(t), of("begin", 0)), 0)

	if err := client.RetryDeadLetter(bounded(t), id); err != nil {
		t.Fatal(err)
	}
	equal(t, "dead letters after it", len(deadLetters(t, client)), 0)
	outs, errs := resumed(t, client, newTask(j), "nightly")
	equal(t, "errors", fmt.Sprint(errs), "map[]")
	right(t, outs, n)
	counter.nothingLeft(t)
	if err := client.RetryDeadLetter(bounded(t), id); err == nil {
		t.Error("it went back again")
	}
}

// A dead letter is not retried if its run is over, or its error was delivered.
func TestRetryDeadLetterRefused(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	id := poisoned(t, where, j, 2, "nightly")
	client, counter := connect(t, where), look(t, where)
	serve(t, connect(t, where), 2, newTask(j))
	counter.queued(t, 0)
	refused := func(want string) {
		t.Helper()
		if err := client.RetryDeadLetter(bounded(t), id); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error: got %v, want one with %q", err, want)
		}
		equal(t, "dead letters", len(deadLetters(t, client)), 1)
		counter.queued(t, 0)
	}
	for i, err := range func(yield func(int, error) bool) {
		i := 0
		for _, err := range cluster.Resume(bounded(t), client, newTask(j), "nightly") {
			if !yield(i, err) {
				return
			}
			i++
		}
	} {
		if i == 0 {
			wrong(t, err, cluster.ErrPoison)
			refused("its submitter has its error")
		}
	}
	refused("it is over: submit the item again")
	wrong(t, client.RetryDeadLetter(bounded(t), id), cluster.ErrRunLost)
	for _, id := range []string{"", "/", "x", "x/1", "*/*", "a.>/1", "x y/1", id + "/1", "../1"} {
		if err := client.DropDeadLetter(bounded(t), id); err == nil || !strings.Contains(err.Error(), "no dead letter with that ID") {
			t.Errorf("drop %q: got %v, want that there is nothing", id, err)
		}
	}
	if err := client.DropDeadLetter(bounded(t), id); err != nil {
		t.Error(err)
	}
	counter.nothingLeft(t)
}

// All dead letters are listed, the oldest first, even with other messages between them.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	const n = 250
	where := newServer(t)
	client, counter := connect(t, where), look(t, where)
	var want []string
	for i := range n {
		id := fmt.Sprint("run/", i)
		m := nats.NewMsg(fmt.Sprint("stint.dead.run.", i))
		m.Data = fmt.Appendf(nil, `{"id": %q, "task": "work/v1"}`, id)
		if _, err := counter.js.PublishMsg(bounded(t), m); err != nil {
			t.Fatal(err)
		}
		want = append(want, id)
	}
	equal(t, "dead letters", fmt.Sprint(deadLetters(t, client)), fmt.Sprint(want))
	for i := 1; i < n; i += 2 {
		if err := client.DropDeadLetter(bounded(t), want[i]); err != nil {
			t.Fatal(err)
		}
		want[i] = ""
	}
	left := deadLetters(t, client)
	equal(t, "left", fmt.Sprint(left), fmt.Sprint(strings.Fields(strings.Join(want, " "))))
	for range client.DeadLetters(bounded(t)) {
		break
	}
}

// A malformed dead letter is listed with its reason, and may be dropped. It does not hide others.
func TestBadDeadLetter(t *testing.T) {
	t.Parallel()
	where := newServer(t)
	client, counter := connect(t, where), look(t, where)
	for subject, data := range map[string]string{
		"x.1": "no JSON", "x.2": `{"id": "x/2"}`, "x.3": `{"id": "x/4"}`, "x.5": "{}", "x": "", "a.b.c": "null",
	} {
		counter.publish(t, "stint.dead."+subject, data)
	}
	ids := deadLetters(t, client)
	slices.Sort(ids)
	equal(t, "dead letters", fmt.Sprint(ids), "[a.b/c x x/1 x/2 x/3 x/5]")
	for _, id := range ids {
		if err := client.RetryDeadLetter(bounded(t), id); err == nil {
			t.Errorf("retry %s: no error", id)
		}
		if err := client.DropDeadLetter(bounded(t), id); err != nil {
			t.Error(err)
		}
	}
	equal(t, "left", len(counter.subjects(t, "stint-dead")), 0)
}
