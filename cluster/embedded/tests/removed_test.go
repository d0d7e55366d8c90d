package tests

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint/cluster"
)

// Removed messages stay removed when the server is killed: the records of runs that were
// written more than once, and of those that were resumed.
func TestRemovedStaysRemoved(t *testing.T) {
	t.Parallel()
	port := freePorts(t, 1)[0]
	where, j := "nats://"+loopback(port), newJournal(t)
	s := part{Role: "server", Server: node{Dir: t.TempDir(), Port: port}}
	first := start(t, s)
	counter := look(t, where)
	counter.connected(t)
	client, other, task := connect(t, where), connect(t, where), newTask(j)
	serve(t, connect(t, where), 4, task)
	stays := begin(bounded(t), client, task, items(1, item{Do: "wait", Gate: "stays"}), cluster.Name("stays"))
	counter.queued(t, 1)
	begin(bounded(t), client, task, items(20, item{}), cluster.Name("nightly"), cluster.Limit(3)).succeed(t, 20)
	c := begin(bounded(t), other, task, items(1, item{Do: "wait", Gate: "resumed"}), cluster.Name("resumed"), cluster.Limit(3))
	counter.queued(t, 2)
	other.Close()
	<-c.done
	j.open(t, "resumed")
	resumed(t, client, task, "resumed")
	counter.queued(t, 1)

	first.kill()
	start(t, s)
	counter.connected(t)
	var got map[string]*jetstream.StreamInfo
	eventually(t, "the stream of runs is there", func() bool { // it does not answer what is asked too soon
		got, _ = counter.listStreams()
		return got["stint-runs"] != nil
	})
	equal(t, "number of records", got["stint-runs"].State.Msgs, 1)
	begin(bounded(t), client, task, items(20, item{})).succeed(t, 20)
	equal(t, "limit of the task", counter.consumer(t, "work=v1").CachedInfo().Config.MaxAckPending, -1)
	j.open(t, "stays")
	stays.succeed(t, 1)
	counter.nothingLeft(t)
}

// A run whose record is there in two versions, as after a kill between the storing of
// one and the removal of the other, leaves neither.
func TestRecordIsThereTwice(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	client, counter := connect(t, where), look(t, where)
	c := begin(bounded(t), client, newTask(j), items(1, item{}), cluster.Name("nightly"))
	counter.queued(t, 1)
	runs, err := counter.js.Stream(bounded(t), "stint-runs")
	if err != nil {
		t.Fatal(err)
	}
	record, err := runs.GetLastMsgForSubject(bounded(t), "stint.run.nightly")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := counter.js.Publish(bounded(t), record.Subject, record.Data); err != nil {
		t.Fatal(err)
	}
	serve(t, connect(t, where), 1, newTask(j))
	c.succeed(t, 1)
	counter.nothingLeft(t)
}
