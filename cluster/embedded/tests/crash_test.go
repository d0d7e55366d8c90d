package tests

import (
	"slices"
	"testing"

	"github.com/stint-go/stint/cluster"
)

// Two of three workers are killed while they run tasks. Only the tasks that they held run
// again.
func TestWorkersAreKilled(t *testing.T) {
	t.Parallel()
	const n, slots = 400, 4
	where, j := newServer(t), newJournal(t)
	workers := startWorkers(t, 3, part{URL: where, Journal: j.Path, Slots: slots})
	client := connect(t, where)
	before := warm(t, client, j, 3*slots)
	c := begin(bounded(t), client, newTask(j), items(n, item{For: tick}))
	for _, w := range workers[:2] {
		j.seen(t, 3*slots, "ended by "+w.name(), by(w.name(), "end"))
	}
	workers[0].kill()
	workers[1].kill()
	if count(j.events(t)[before:], is("end")) >= n {
		t.Fatal("the run was over before a worker was killed")
	}
	c.succeed(t, n)

	all := j.events(t)[before:]
	finished := map[int]bool{} // on a killed worker, perhaps before its result was stored: the slot is free by then
	for _, w := range workers[:2] {
		for _, e := range only(all, by(w.name(), "end")) {
			finished[e.Index] = true
		}
	}
	twice := 0
	for i, runs := range runsOf(t, all, n) {
		if runs == 1 {
			continue
		}
		if !finished[i] {
			twice += runs - 1
		}
		if w := begun(all, i); w != workers[0].name() && w != workers[1].name() {
			t.Errorf("item %d ran %d times, and began on worker %s, which was not killed", i, runs, w)
		}
	}
	if twice > 2*slots {
		t.Errorf("%d runs too many, want at most the running tasks of the killed workers: %d", twice, 2*slots)
	}
	ids := map[string]bool{}
	for _, client := range only(all, is("begin")) {
		ids[client.ID] = true
	}
	equal(t, "number of IDs", len(ids), n)
	look(t, where).nothingLeft(t)
}

// The server is stopped and restarted on the same directory and port. Nothing is lost.
func TestServerComesBack(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*testing.T, *process){
		"killed":  func(_ *testing.T, p *process) { p.kill() },
		"stopped": func(t *testing.T, p *process) { p.interrupt(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const n = 200
			port := freePorts(t, 1)[0]
			where, j := "nats://"+loopback(port), newJournal(t)
			s := part{Role: "server", Server: node{Dir: t.TempDir(), Port: port}}
			first := start(t, s)
			counter := look(t, where)
			counter.connected(t)
			startWorkers(t, 2, part{URL: where, Journal: j.Path, Slots: 2, Lease: short})
			client, task := connect(t, where), newTask(j, cluster.Lease(short))
			c := begin(bounded(t), client, task, items(n, item{For: tick}))
			j.seen(t, n/5, "ended", is("end"))
			stop(t, first)
			start(t, s)
			c.succeed(t, n)
			runsOf(t, j.events(t), n)
			counter.nothingLeft(t)

			again := begin(bounded(t), client, task, items(n/10, item{}))
			again.succeed(t, n/10)
		})
	}
}

// One of three servers is killed: the one that leads the stream of tasks.
func TestServerOfThreeIsKilled(t *testing.T) {
	t.Parallel()
	const n = 200
	servers, where := startCluster(t)
	j := newJournal(t)
	client := connect(t, where, cluster.Replicas(3))
	startWorkers(t, 2, part{URL: where, Journal: j.Path, Slots: 2, Replicas: 3})
	c := begin(bounded(t), client, newTask(j), items(n, item{For: tick}))
	j.seen(t, n/10, "ended", is("end"))
	counter := look(t, where)
	leader := counter.leader(t)
	i := slices.IndexFunc(servers, func(s *process) bool { return s.part.Server.Name == leader })
	if i < 0 {
		t.Fatalf("the leader is %q", leader)
	}
	servers[i].kill()
	c.succeed(t, n)
	runsOf(t, j.events(t), n)
	counter.nothingLeft(t)
}
