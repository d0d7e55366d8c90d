package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cluster/embedded"
	"github.com/stint-go/stint/lab/measure"
)

// A child describes one process of a sample: this program, started again with a
// role.
type child struct {
	Role  string `json:"role"`
	URL   string `json:"url"`   // of the server
	Slots int    `json:"slots"` // of a worker
	Tasks int    `json:"tasks"` // of a submitter
}

// roles run a child until its work is done or ctx ends. They print a line when
// they are ready.
var roles = map[string]func(child, context.Context, func(line string)) error{
	"server":               child.host,
	"worker":               func(m child, ctx context.Context, say func(string)) error { return m.serve(ctx, doubling, say) },
	"sleeper":              func(m child, ctx context.Context, say func(string)) error { return m.serve(ctx, sleepTask, say) },
	"sleeper with nats.go": child.serveBaseline,
	"submitter":            child.submit,
}

// childVar is the environment variable that holds a child's description.
const childVar = "STINT_LAB_CHILD"

// Child runs this process as a child, if it was started as one, and returns its
// exit status. Programs that run the experiment call it first.
func Child() (status int, ok bool) {
	text, ok := os.LookupEnv(childVar)
	if !ok {
		return 0, false
	}
	if err := runChild(text, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", text, err)
		return 1, true
	}
	return 0, true
}

// runChild runs the child described by text until in ends, as it does when the
// parent process is gone. It prints a line when ready, and its sample at the
// end.
func runChild(text string, in io.Reader, out io.Writer) error {
	var m child
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return err
	}
	role := roles[m.Role]
	if role == nil {
		return errors.New("unknown role")
	}
	ctx, end := context.WithCancel(context.Background())
	defer end()
	go func() {
		_, _ = io.Copy(io.Discard, in) // for any reason
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

// host runs the server and prints its URL.
func (m child) host(ctx context.Context, say func(string)) error {
	e, err := embedded.Open(embedded.Listen("127.0.0.1:0", nil))
	if err != nil {
		return err
	}
	say(e.URL())
	<-ctx.Done()
	return e.Close()
}

// The tasks of our workers, one per worker.
var (
	doubling  = cluster.NewTask("double/v1", double)
	sleepTask = cluster.NewTask("nap/v1", func(ctx context.Context, n int) (int, error) {
		v, err := sleep(ctx, n)
		if n == askPID {
			v = os.Getpid()
		}
		return v, err
	})
)

// askPID is an item whose result is the worker's process id.
const askPID = -1

// serve runs our worker.
func (m child) serve(ctx context.Context, t cluster.Handler, say func(string)) error {
	e, err := cluster.Connect(ctx, m.URL)
	if err != nil {
		return err
	}
	defer e.Close()
	e.Handle(t)
	say("")
	return cluster.Serve(ctx, e, cluster.Limit(m.Slots))
}

// serveBaseline runs the hand-written worker.
func (m child) serveBaseline(ctx context.Context, say func(string)) error {
	nc, err := nats.Connect(m.URL)
	if err != nil {
		return err
	}
	defer nc.Close()
	h, err := newBaseline(ctx, nc)
	if err != nil {
		return err
	}
	say("")
	return h.work(ctx, m.Slots, sleep)
}

// submit runs our submitter, which holds neither items nor results.
func (m child) submit(ctx context.Context, say func(string)) error {
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
