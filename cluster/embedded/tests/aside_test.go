package tests

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// poisoned makes a run of n items with that name, which is left alone, and of whose items
// the first is put aside. It returns the ID of that.
func poisoned(t *testing.T, where string, j journal, n int, name string) string {
	t.Helper()
	e, counter := connect(t, where), look(t, where)
	c := begin(bounded(t), e, newTask(j), items(n, item{}), stint.Name(name), stint.KeepGoing())
	counter.queued(t, n)
	counter.lose(t, n, 2)
	key := strings.Split(counter.subjects(t, "stint-tasks")[0], ".")[3]
	if _, err := counter.js.Publish(bounded(t), "stint.alone."+key+".0", []byte("2")); err != nil {
		t.Fatal(err)
	}
	e.Close()
	<-c.done
	return key + "/0"
}

// asides returns the IDs of all that was put aside.
func asides(t *testing.T, e *cluster.Engine) (ids []string) {
	t.Helper()
	for a, err := range e.ListAside(bounded(t)) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, a.ID)
	}
	return ids
}

// A task that was put aside goes back into its run as long as nobody has heard of it.
func TestRetryAside(t *testing.T) {
	t.Parallel()
	const n = 3
	where, j := newServer(t), newJournal(t)
	id := poisoned(t, where, j, n, "nightly")
	e, counter := connect(t, where), look(t, where)
	serve(t, connect(t, where), 2, newTask(j))
	counter.queued(t, 0)
	equal(t, "put aside", fmt.Sprint(asides(t, e)), fmt.Sprint([]string{id}))
	equal(t, "runs of it", count(j.events(t), of("begin", 0)), 0)

	if err := e.RetryAside(bounded(t), id); err != nil {
		t.Fatal(err)
	}
	equal(t, "put aside after it", len(asides(t, e)), 0)
	outs, errs := resumed(t, e, newTask(j), "nightly")
	equal(t, "errors", len(errs), 0)
	right(t, outs, n)
	counter.nothingLeft(t)
	if err := e.RetryAside(bounded(t), id); err == nil {
		t.Error("it went back again")
	}
}

// A task that was put aside does not go back to where nobody waits for it, or somebody has
// got its error.
func TestRetryAsideInVain(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	id := poisoned(t, where, j, 2, "nightly")
	e, counter := connect(t, where), look(t, where)
	serve(t, connect(t, where), 2, newTask(j))
	counter.queued(t, 0)
	refused := func(want string) {
		t.Helper()
		if err := e.RetryAside(bounded(t), id); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error: got %v, want one with %q", err, want)
		}
		equal(t, "put aside", len(asides(t, e)), 1)
		counter.queued(t, 0)
	}
	for i, err := range func(yield func(int, error) bool) {
		i := 0
		for _, err := range cluster.Resume(bounded(t), e, newTask(j), "nightly") {
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
	wrong(t, e.RetryAside(bounded(t), id), cluster.ErrRunLost)
	for _, id := range []string{"", "/", "x", "x/1", "*/*", "a.>/1", "x y/1", id + "/1", "../1"} {
		if err := e.DropAside(bounded(t), id); err == nil || !strings.Contains(err.Error(), "nothing with that ID") {
			t.Errorf("drop %q: got %v, want that there is nothing", id, err)
		}
	}
	if err := e.DropAside(bounded(t), id); err != nil {
		t.Error(err)
	}
	counter.nothingLeft(t)
}

// All that was put aside is listed, the oldest first, whatever is between.
func TestListAside(t *testing.T) {
	t.Parallel()
	const n = 250
	where := newServer(t)
	e, counter := connect(t, where), look(t, where)
	var want []string
	for i := range n {
		id := fmt.Sprint("run/", i)
		m := nats.NewMsg(fmt.Sprint("stint.aside.run.", i))
		m.Data = fmt.Appendf(nil, `{"id": %q, "task": "work/v1"}`, id)
		if _, err := counter.js.PublishMsg(bounded(t), m); err != nil {
			t.Fatal(err)
		}
		want = append(want, id)
	}
	equal(t, "put aside", fmt.Sprint(asides(t, e)), fmt.Sprint(want))
	for i := 1; i < n; i += 2 {
		if err := e.DropAside(bounded(t), want[i]); err != nil {
			t.Fatal(err)
		}
		want[i] = ""
	}
	left := asides(t, e)
	equal(t, "left", fmt.Sprint(left), fmt.Sprint(strings.Fields(strings.Join(want, " "))))
	for range e.ListAside(bounded(t)) {
		break
	}
}

// What was put aside and cannot be read is shown as that, and may be dropped. It does not hide
// the rest.
func TestBadAside(t *testing.T) {
	t.Parallel()
	where := newServer(t)
	e, counter := connect(t, where), look(t, where)
	for subject, data := range map[string]string{
		"x.1": "no JSON", "x.2": `{"id": "x/2"}`, "x.3": `{"id": "x/4"}`, "x.5": "{}", "x": "", "a.b.c": "null",
	} {
		counter.publish(t, "stint.aside."+subject, data)
	}
	ids := asides(t, e)
	slices.Sort(ids)
	equal(t, "put aside", fmt.Sprint(ids), "[a.b/c x x/1 x/2 x/3 x/5]")
	for _, id := range ids {
		if err := e.RetryAside(bounded(t), id); err == nil {
			t.Errorf("retry %s: no error", id)
		}
		if err := e.DropAside(bounded(t), id); err != nil {
			t.Error(err)
		}
	}
	equal(t, "left", len(counter.subjects(t, "stint-aside")), 0)
}
