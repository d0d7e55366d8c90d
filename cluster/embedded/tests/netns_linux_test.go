package tests

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stint-go/stint/cluster"
)

// A link is a network namespace and the two ends of a wire to it.
type link struct {
	space   string
	outside string // this end of the wire
	inside  string
	host    string // the address of this end
}

// ip calls the command ip.
func ip(args string) (string, error) {
	out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// newLink makes a namespace with a wire, or skips the test where that is not possible.
func newLink(t *testing.T) *link {
	t.Helper()
	id := os.Getpid() % 16384
	net := fmt.Sprintf("10.%d.%d", 200+id/256%50, id%256)
	l := &link{space: fmt.Sprint("stint", id), outside: fmt.Sprint("sto", id), inside: fmt.Sprint("sti", id), host: net + ".1"}
	if out, err := ip("netns add " + l.space); err != nil {
		t.Skipf("no network namespace here: ip netns add: %v: %s", err, out)
	}
	t.Cleanup(func() { ip("netns del " + l.space); ip("link del " + l.outside) })
	for _, command := range []string{
		"link add " + l.outside + " type veth peer name " + l.inside + " netns " + l.space,
		"addr add " + l.host + "/30 dev " + l.outside,
		"link set " + l.outside + " up",
		"netns exec " + l.space + " ip addr add " + net + ".2/30 dev " + l.inside,
		"netns exec " + l.space + " ip link set " + l.inside + " up",
		"netns exec " + l.space + " ip link set lo up",
	} {
		if out, err := ip(command); err != nil {
			t.Skipf("no network namespace here: ip %s: %v: %s", command, err, out)
		}
	}
	return l
}

// set sets the wire "up" or "down".
func (l *link) set(t *testing.T, how string) {
	t.Helper()
	if out, err := ip("link set " + l.outside + " " + how); err != nil {
		t.Fatalf("ip link set %s: %v: %s", how, err, out)
	}
}

// A worker is cut off while it runs a task. Another one takes the task; the first notices by its own
// clock, and continues when the wire is up.
func TestWorkerIsCutOff(t *testing.T) {
	t.Parallel()
	l := newLink(t)
	where := newServer(t, func(o *server.Options) { o.Host = "0.0.0.0" })
	u, err := url.Parse(where)
	if err != nil {
		t.Fatal(err)
	}
	j := newJournal(t)
	p := part{Role: "worker", URL: "nats://" + l.host + ":" + u.Port(), Journal: j.Path, Slots: 1, Lease: short}
	away := start(t, p, "ip", "netns", "exec", l.space)
	client := connect(t, "nats://127.0.0.1:"+u.Port())
	both := []item{{N: 0, Do: "wait at first"}, {N: 1, Do: "wait", Gate: "end"}}
	task := newTask(j, cluster.Lease(short))
	c := begin(bounded(t), client, task, both)
	j.seen(t, 1, "begun", by(away.name(), "begin"))
	l.set(t, "down")
	j.seen(t, 1, "ended by its own clock", by(away.name(), "end"))
	p.URL, p.Slots = "nats://127.0.0.1:"+u.Port(), 2
	near := start(t, p)
	j.seen(t, 1, "ended by the other", func(client event) bool { return client.Worker == near.name() && of("end", 0)(client) })
	l.set(t, "up")
	j.open(t, "end")
	c.succeed(t, 2)

	equal(t, "the worker whose result counts", c.outs[0].Worker, near.name())
	lost := only(j.events(t), by(away.name(), "end"))[0]
	equal(t, "the cause that ended the first", lost.Cause, cluster.ErrLeaseLost.Error())
	near.kill()
	begin(bounded(t), client, task, items(10, item{})).succeed(t, 10)
}
