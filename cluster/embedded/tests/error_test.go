package tests

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// A function that does not return a result makes an error of its item, and the worker continues.
func TestErrorsComeBack(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	serve(t, connect(t, where), 2, newTask(j))
	c := connect(t, where)
	all := items(6, item{})
	for i, do := range []string{"panic", "goexit", "fail", "fail as known"} {
		all[1+i].Do = do
	}
	outs, err := cluster.Map(bounded(t), c, newTask(j), all, cluster.KeepGoing())
	errs := itemErrors(t, err)
	equal(t, "number of errors", len(errs), 4)
	equal(t, "first result", outs[0].N, answer(0))
	equal(t, "last result", outs[5].N, answer(5))

	panicked(t, errs[1], "boom 1")
	wrong(t, errs[2], stint.ErrGoexit)
	equal(t, "error", errs[3].Error(), "item 3 failed: "+errUnknown.Error())
	if errors.Is(errs[3], errKnown) || errors.Is(errs[3], errUnknown) {
		t.Error("an error is known that was not made so")
	}
	equal(t, "error", errs[4].Error(), "item 4 failed: "+errKnown.Error())
	wrong(t, errs[4], errKnown)
	for i, runs := range runsOf(t, j.events(t), 6) {
		if runs != 1 {
			t.Errorf("item %d ran %d times", i, runs)
		}
	}
	look(t, where).nothingLeft(t)
}

// The first result of a task stays: the server takes no second one.
func TestFirstResultStays(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	serve(t, connect(t, where), 2, newTask(j))
	next := ahead(t, cluster.MapSeq(bounded(t), connect(t, where), newTask(j), slices.Values([]item{{}, {N: 1, Do: "wait", Gate: "end"}})))
	if out, err, _ := next(); err != nil || out.N != answer(0) {
		t.Fatalf("result 0: %+v, %v", out, err)
	}
	js := look(t, where).js
	results, err := js.Stream(bounded(t), "stint-results")
	if err != nil {
		t.Fatal(err)
	}
	info, err := results.Info(bounded(t), jetstream.WithSubjectFilter(">"))
	if err != nil || len(info.State.Subjects) != 1 {
		t.Fatalf("want one result: %+v, %v", info, err)
	}
	for subject := range info.State.Subjects {
		if ack, err := js.Publish(bounded(t), subject, []byte(`{"N":-1}`)); err == nil {
			t.Errorf("the server has taken a second result: %+v", ack)
		}
	}
	j.open(t, "end")
	if out, err, _ := next(); err != nil || out.N != answer(1) {
		t.Fatalf("result 1: %+v, %v", out, err)
	}
}

// panicked fails the test if err is not a panic on another machine, with its stack.
func panicked(t *testing.T, err error, value string) {
	t.Helper()
	var p *stint.PanicError
	if !errors.As(err, &p) {
		t.Fatalf("error: got %v, want a PanicError", err)
	}
	equal(t, "value", p.Value, any(value))
	if !strings.Contains(string(p.Stack), "tests.act(") || !strings.Contains(err.Error(), value) {
		t.Errorf("want the stack of the function and the value, got:\n%v\n%s", err, p.Stack)
	}
}

// Without KeepGoing each of these ends a run with an error, even a panic.
func TestFirstErrorEndsTheRun(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	serve(t, connect(t, where), 2, newTask(j))
	c := connect(t, where)
	for _, do := range []string{"panic", "goexit", "fail", "fail as known"} {
		all := items(30, item{For: tick})
		all[5].Do = do
		outs, err := cluster.Map(bounded(t), c, newTask(j), all)
		if err == nil {
			t.Errorf("%s: no error", do)
		}
		var one *stint.ItemError
		if errors.As(err, &one) {
			t.Errorf("%s: %v is an ItemError, which is for KeepGoing", do, err)
		}
		equal(t, "number of results", len(outs), 30)
		look(t, where).nothingLeft(t)
	}
}

// A task is retried on its worker, and its TaskInfo says so.
func TestRetry(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	task := newTask(j, cluster.Retry(2, time.Millisecond))
	serve(t, connect(t, where), 2, task)
	all := []item{{N: 0, Do: "fail twice"}, {N: 1, Do: "fail as known"}, {N: 2, Do: "panic"}, {N: 3}}
	outs, err := cluster.Map(bounded(t), connect(t, where), task, all, cluster.KeepGoing())
	errs := itemErrors(t, err)
	equal(t, "number of errors", len(errs), 2)
	wrong(t, errs[1], errKnown)
	panicked(t, errs[2], "boom 2")
	equal(t, "result of the third attempt", outs[0].N, answer(0))
	equal(t, "the attempt", outs[0].Attempt, 3)
	for i, want := range []int{3, 3, 1, 1} {
		begins := only(j.events(t), of("begin", i))
		equal(t, "number of attempts", len(begins), want)
		for k, e := range begins {
			equal(t, "attempt", e.Attempt, k+1)
			equal(t, "ID", e.ID, begins[0].ID)
		}
	}
	look(t, where).nothingLeft(t)
}
