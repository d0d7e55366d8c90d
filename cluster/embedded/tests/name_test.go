package tests

import (
	"context"
	"testing"

	"github.com/stint-go/stint/cluster"
)

// A task whose name no worker knows waits, and does not hinder other tasks.
func TestUnknownNameWaits(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	client := connect(t, where)
	known, other := named("work/v2", j), named("other/v1", j)
	serve(t, connect(t, where), 2, other)
	c := begin(bounded(t), client, known, items(5, item{}))
	counter := look(t, where)
	counter.queued(t, 5)
	begin(bounded(t), client, other, items(7, item{})).succeed(t, 7)
	status, err := client.Status(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range status.Tasks {
		if task.Name == "work/v2" && (task.Queued != 5 || task.InFlight != 0) {
			t.Errorf("%+v, want 5 queued and none in flight", task)
		}
	}
	equal(t, "number of runs", count(j.events(t), is("begin")), 7)
	serve(t, connect(t, where), 2, known)
	c.succeed(t, 5)
	counter.nothingLeft(t)
}

// Two versions of a task run concurrently, on workers that know one or both.
func TestTwoVersions(t *testing.T) {
	t.Parallel()
	const n = 30
	where, j := newServer(t), newJournal(t)
	version := func(name string, k int) *cluster.Task[int, int] {
		return cluster.NewTask(name, func(ctx context.Context, in int) (int, error) {
			j.noteTask(cluster.TaskInfo(ctx), name, "")
			return in * k, nil
		})
	}
	old, young := version("times/v1", 2), version("times/v2", 3)
	serve(t, connect(t, where), 1, old)
	serve(t, connect(t, where), 1, young)
	serve(t, connect(t, where), 1, old, young)
	c := connect(t, where)
	var in []int
	for i := range n {
		in = append(in, i)
	}
	done := make(chan []int)
	go func() {
		outs, err := cluster.Map(bounded(t), c, old, in)
		if err != nil {
			t.Error(err)
		}
		done <- outs
	}()
	outs, err := cluster.Map(bounded(t), c, young, in)
	if err != nil {
		t.Error(err)
	}
	before := <-done
	for i := range n {
		equal(t, "old", before[i], 2*i)
		equal(t, "young", outs[i], 3*i)
	}
	all := j.events(t)
	equal(t, "runs of the old", count(all, is("times/v1")), n)
	equal(t, "runs of the young", count(all, is("times/v2")), n)
	look(t, where).nothingLeft(t)
}

// clients with different prefixes do not see each other.
func TestPrefixesAreApart(t *testing.T) {
	t.Parallel()
	where, a, b := newServer(t), newJournal(t), newJournal(t)
	for prefix, j := range map[string]journal{"one": a, "two": b} {
		serve(t, connect(t, where, cluster.Prefix(prefix)), 2, newTask(j))
	}
	for prefix, n := range map[string]int{"one": 10, "two": 20} {
		c := connect(t, where, cluster.Prefix(prefix))
		begin(bounded(t), c, newTask(a), items(n, item{})).succeed(t, n)
	}
	equal(t, "runs of one", count(a.events(t), is("begin")), 10)
	equal(t, "runs of two", count(b.events(t), is("begin")), 20)
	look(t, where).nothingLeft(t)
}
