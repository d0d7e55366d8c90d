package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cluster/embedded"
	"github.com/stint-go/stint/lab/measure"
)

// A member is one of the processes of a sample: this program again, with a role.
type member struct {
	Role  string `json:"role"`
	URL   string `json:"url"`   // of the server
	Slots int    `json:"slots"` // of a worker
	Tasks int    `json:"tasks"` // of a submitter
}

// roles are what a member can be. Each says a line when it is ready, and does its
// work until it is done or ctx ends.
var roles = map[string]func(member, context.Context, func(line string)) error{
	"server":         member.host,
	"worker":         func(m member, ctx context.Context, say func(string)) error { return m.serve(ctx, doubling, say) },
	"napper":         func(m member, ctx context.Context, say func(string)) error { return m.serve(ctx, napping, say) },
	"napper by hand": member.serveByHand,
	"submitter":      member.submit,
}

// variable is what tells a process that it is a member, and which.
const variable = "STINT_LAB_MEMBER"

// Member does the work of a member, if this process was started as one, and returns
// its exit status. A program that runs the experiment calls it first.
func Member() (status int, ok bool) {
	text, ok := os.LookupEnv(variable)
	if !ok {
		return 0, false
	}
	if err := play(text, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", text, err)
		return 1, true
	}
	return 0, true
}

// play does what text says until in ends, as it does when who started this process is
// gone. It writes a line when it is ready, and one with its sample in the end.
func play(text string, in io.Reader, out io.Writer) error {
	var m member
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return err
	}
	role := roles[m.Role]
	if role == nil {
		return errors.New("there is no such role")
	}
	ctx, end := context.WithCancel(context.Background())
	defer end()
	go func() {
		_, _ = io.Copy(io.Discard, in) // any end is one
		end()
	}()
	meter := &measure.Meter{N: 1, Peaks: true}
	meter.Start()
	err := role(m, ctx, func(line string) { fmt.Fprintln(out, line) })
	meter.Stop()
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(meter.Sample())
}

// host is the server. The line that it says is its URL.
func (m member) host(ctx context.Context, say func(string)) error {
	e, err := embedded.Open(embedded.Listen("127.0.0.1:0", nil))
	if err != nil {
		return err
	}
	say(e.URL())
	<-ctx.Done()
	return e.Close()
}

// The tasks of workers of ours. Each worker has one of them.
var (
	doubling = cluster.NewTask("double/v1", double)
	napping  = cluster.NewTask("nap/v1", func(ctx context.Context, n int) (int, error) {
		v, err := nap(ctx, n)
		if n == who {
			v = os.Getpid()
		}
		return v, err
	})
)

// who is an item that asks for the process it comes to.
const who = -1

// serve is a worker of ours.
func (m member) serve(ctx context.Context, t cluster.Handler, say func(string)) error {
	e, err := cluster.Connect(ctx, m.URL)
	if err != nil {
		return err
	}
	defer e.Close()
	e.Handle(t)
	say("")
	return cluster.Serve(ctx, e, stint.Limit(m.Slots))
}

// serveByHand is a worker of the loop that is written by hand.
func (m member) serveByHand(ctx context.Context, say func(string)) error {
	nc, err := nats.Connect(m.URL)
	if err != nil {
		return err
	}
	defer nc.Close()
	h, err := newHand(ctx, nc)
	if err != nil {
		return err
	}
	say("")
	return h.work(ctx, m.Slots, nap)
}

// submit is a submitter of ours, which holds neither items nor results.
func (m member) submit(ctx context.Context, say func(string)) error {
	e, err := cluster.Connect(ctx, m.URL)
	if err != nil {
		return err
	}
	defer e.Close()
	say("")
	items := func(yield func(int) bool) {
		for i := range m.Tasks {
			if !yield(i) {
				return
			}
		}
	}
	n := 0
	for v, err := range cluster.MapSeq(ctx, e, doubling, items) {
		if err == nil && v != 2*n {
			err = fmt.Errorf("result %d is %d", n, v)
		}
		if err != nil {
			return err
		}
		n++
	}
	if n != m.Tasks {
		return fmt.Errorf("%d results of %d tasks", n, m.Tasks)
	}
	return nil
}
