package tests

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stint-go/stint/cluster"
)

// processVar is set in the environment of a process that a test starts: to a part.
const processVar = "STINT_TEST_PROCESS"

// A part is what a process does.
type part struct {
	Role    string
	URL     string        // of the server
	Journal string        // the path of one
	Task    string        // its name; "" is work/v1
	Lease   time.Duration // of the task; 0 is the usual
	Slots   int           // of a worker

	Replicas int // of the streams; 0: one

	Run   string // the name that a submitter gives its run
	Items []item // that it submits
	Stall bool   // before the end of the items, for ever

	Server node // what a server is like
}

// roles are what a process can do.
var roles = map[string]func(part) error{
	"worker":    playWorker,
	"submitter": playSubmitter,
	"server":    playServer,
}

// journal returns the journal of the process.
func (p part) journal() journal {
	return journal{Path: p.Journal, Worker: strconv.Itoa(os.Getpid())}
}

// task returns the task of the process.
func (p part) task() *work {
	name := "work/v1"
	if p.Task != "" {
		name = p.Task
	}
	d := lease
	if p.Lease > 0 {
		d = p.Lease
	}
	return named(name, p.journal(), cluster.Lease(d))
}

// connect returns a client of the process.
func (p part) connect() (*cluster.Client, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return cluster.Connect(ctx, p.URL, cluster.NATS(greeted), cluster.Heartbeat(heartbeat), cluster.Replicas(max(p.Replicas, 1)))
}

// playWorker serves until it gets an interrupt, and drains.
func playWorker(p part) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c, err := p.connect()
	if err != nil {
		return err
	}
	defer c.Close()
	c.Handle(p.task())
	p.journal().note(event{What: "ready"})
	return cluster.Serve(ctx, c, cluster.Limit(p.Slots))
}

// playSubmitter submits its items as one run, and notes the results.
func playSubmitter(p part) error {
	c, err := p.connect()
	if err != nil {
		return err
	}
	defer c.Close()
	j := p.journal()
	for out, err := range cluster.MapSeq(context.Background(), c, p.task(), p.pull(), cluster.Name(p.Run)) {
		if err != nil {
			return err
		}
		j.note(event{What: "result", Index: (out.N - 1) / 3})
	}
	return nil
}

// pull yields the items of a submitter, and notes when all were taken.
func (p part) pull() iter.Seq[item] {
	return func(yield func(item) bool) {
		for _, in := range p.Items {
			if !yield(in) {
				return
			}
		}
		if p.Stall {
			p.journal().note(event{What: "stalled"})
			select {}
		}
	}
}

// A process is one that a test started.
type process struct {
	*exec.Cmd
	part   part
	output lines
	ended  chan struct{}
	err    error // how it ended
}

// spawn starts a process, by a command in front of it if one is given.
func spawn(p part, command ...string) (*process, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	command = append(command, os.Args[0])
	c := &process{Cmd: exec.Command(command[0], command[1:]...), part: p, ended: make(chan struct{})}
	c.Env = append(os.Environ(), processVar+"="+string(text), "GORACE=atexit_sleep_ms=0", "GOMAXPROCS=2")
	c.Stdout, c.Stderr = &c.output, &c.output
	c.SysProcAttr = dieTogether()
	if err := c.Start(); err != nil {
		return nil, err
	}
	go func() { c.err = c.Wait(); close(c.ended) }()
	return c, nil
}

// start starts a process that is killed at the end of the test.
func start(t *testing.T, p part, command ...string) *process {
	t.Helper()
	c, err := spawn(p, command...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.kill()
		c.show(t)
	})
	return c
}

// show logs what the process has printed, if the test has failed.
func (c *process) show(t *testing.T) {
	if text := c.output.String(); t.Failed() && text != "" {
		t.Logf("output of %s %s:\n%s", c.part.Role, c.name(), text)
	}
}

// name is what the process is called in journals.
func (c *process) name() string { return strconv.Itoa(c.Process.Pid) }

// kill ends the process as kill -9 does, and waits for its end.
func (c *process) kill() {
	c.Process.Kill()
	<-c.ended
}

// interrupt asks the process to end, waits for it and returns how it ended.
func (c *process) interrupt(t *testing.T) error {
	t.Helper()
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	c.wait(t)
	return c.err
}

// wait waits until the process ends by itself.
func (c *process) wait(t *testing.T) {
	t.Helper()
	select {
	case <-c.ended:
	case <-time.After(patience):
		t.Fatalf("process %s did not end:\n%s", c.name(), c.output.String())
	}
}

// startWorkers starts n workers that serve p.
func startWorkers(t *testing.T, n int, p part) []*process {
	t.Helper()
	p.Role = "worker"
	var all []*process
	for range n {
		all = append(all, start(t, p))
	}
	return all
}

// respawn keeps n workers that serve p alive until the test ends.
func respawn(t *testing.T, n int, p part) {
	t.Helper()
	p.Role = "worker"
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for again(t, p, stop) {
			}
		})
	}
	t.Cleanup(func() { close(stop); wg.Wait() })
}

// again starts a process and waits for its end. It returns false when stop is closed.
func again(t *testing.T, p part, stop <-chan struct{}) bool {
	c, err := spawn(p)
	if err != nil {
		t.Error(err)
		return false
	}
	defer c.kill()
	select {
	case <-c.ended:
		return true
	case <-stop:
		return false
	}
}

// lines is a buffer that two streams write to.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
