package remote

import (
	"context"
	"encoding/base64"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/run/command"
	"github.com/stint-go/stint/cmd/stint/internal/run/local"
	"github.com/stint-go/stint/cmd/stint/internal/run/output"
	"github.com/stint-go/stint/cmd/stint/internal/server"
)

const windowBytes = 128 << 20 // of items and results in progress

// A Run is what a Submitter knows of a run, and asks of it.
type Run struct {
	Server  *server.Connection
	Console *console.Console
	Printer *output.Printer
	Command *command.Command
	Spec    command.Spec
	Policy  local.Policy

	Ahead     int // jobs that have ended before an earlier one is printed; 0: they are printed as they end
	Unsettled int // jobs that have no result while others are submitted; 0: any number

	Jobs   func(context.Context) iter.Seq2[*output.Job, error]
	Begin  func(*output.Job) bool // the job runs; false: no more jobs are to run
	Settle func(*output.Job)      // it has its result
	Cancel func(error)            // ends the run
}

// A Submitter has the workers of a server run the jobs of a run. It must be made by NewSubmitter, and
// closed.
type Submitter struct {
	Run
	client *cluster.Client
	task   *cluster.Task[request, response]

	mu      sync.Mutex
	changed sync.Cond             // turn or unsettled
	jobs    map[int64]*output.Job // submitted and without a result, by position
	turn    int64                 // position of the job to print next, in order
	results int
	outputs map[outputKey]output.Streams // that arrive in parts

	unsettled int // jobs that were submitted, and are not settled

	ended map[int64]*output.Job // with a result, and not printed; for the goroutine of Submit
}

// NewSubmitter connects to the server of r.
func NewSubmitter(ctx context.Context, r Run) (*Submitter, error) {
	client, err := r.Server.Connect(ctx)
	if err != nil {
		return nil, err
	}
	m := &Submitter{
		Run: r, client: client,
		jobs: make(map[int64]*output.Job), ended: make(map[int64]*output.Job), outputs: make(map[outputKey]output.Streams),
	}
	m.changed.L = &m.mu
	stop := server.ReportAway(ctx, client, r.Console)
	m.task = newTask(m.taskName(ctx), nil)
	stop()
	return m, nil
}

// Close ends the connection.
func (m *Submitter) Close() { m.client.Close() }

// Room returns how many bytes the items of a job may have in a message, as Cost counts them.
func (m *Submitter) Room() int {
	return max(1, m.client.MaxMessage()-len(encode(m.request(&output.Job{}, bytesOf(m.Spec.Variables()))))-numbersReserve)
}

// Cost returns the bytes that an item has in a message.
func Cost(item string) int { return base64.StdEncoding.EncodedLen(len(item)) + len(`"",`) }

// MaxBlock returns how many bytes a block may have.
func (m *Submitter) MaxBlock() int { return max(1, m.Room()/4*3) }

// Submit has the workers run the jobs, and prints them.
func (m *Submitter) Submit(ctx context.Context) error {
	stall := server.Stall{Client: m.client, Console: m.Console, Interval: server.StallInterval, Task: m.task.Name(), Advice: m.advice, State: m.progress}
	defer stall.Report(ctx)()
	defer m.interrupt()
	opts := []cluster.Option{cluster.Unordered(), cluster.KeepGoing(), cluster.WindowBytes(windowBytes), cluster.Parts(m.receive)}
	if n := m.Policy.Jobs.N(); n > 0 {
		opts = append(opts, cluster.Limit(n))
	}
	for got, err := range cluster.MapFrom(ctx, m.client, m.task, m.requests, opts...) {
		position := got.Position
		if item, ok := errors.AsType[*stint.ItemError](err); ok {
			position, got = int64(item.Index), response{Err: cluster.Text(item.Err.Error())}
		} else if err != nil {
			if ctx.Err() == nil {
				return m.Server.Failed(err)
			}
			return err
		}
		if !m.arrived(position, &got) {
			return m.Server.Failed(errors.New("a worker has sent a result that is not of its job"))
		}
	}
	return nil
}

// taskName returns the name of the task: that of the workers which run any program, or, if
// there are only workers which run this one, theirs. It asks again while there are none: a worker
// with much to do may not answer in the half second that Health waits.
func (m *Submitter) taskName(ctx context.Context) string {
	all, own := taskName(""), taskName(m.Command.Program())
	for range 5 {
		status, err := m.client.Health(ctx)
		if err != nil || !ValidProgram(m.Command.Program()) {
			return all
		}
		runs := func(task string) bool {
			return slices.ContainsFunc(status.Workers, func(w cluster.WorkerStatus) bool { return slices.Contains(w.Tasks, task) })
		}
		switch {
		case runs(all):
			return all
		case runs(own):
			return own
		}
	}
	return all
}

// advice says how to start a worker for these jobs, which none of the given workers runs. A run
// chooses its task when it starts, so workers for the other task that come later do not help.
func (m *Submitter) advice(workers []cluster.WorkerStatus) string {
	advice := "start it with 'stint work --run'"
	if m.task.Name() != taskName("") {
		advice = "start it with 'stint work --run=" + m.Command.Program() + "'"
	}
	var runs []string
	for _, w := range workers {
		for _, task := range w.Tasks {
			if name, ok := strings.CutPrefix(task, taskName("")+"/"); ok {
				runs = append(runs, name)
			}
		}
	}
	if len(runs) == 0 {
		return advice
	}
	slices.Sort(runs)
	return advice + "; the workers run only " + strings.Join(slices.Compact(runs), ", ")
}

// progress is the State of a Stall.
func (m *Submitter) progress() (pending bool, results int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.jobs) > 0, m.results
}

// requests emits a request for each job, and waits while too many jobs wait for an earlier one
// to be printed. An error of the jobs cancels the run at once, and not after the results of those
// that run.
func (m *Submitter) requests(ctx context.Context, emit func(request) bool) error {
	env := bytesOf(m.Spec.Variables())
	for j, err := range m.Jobs(ctx) {
		if err != nil {
			if ctx.Err() == nil {
				m.Cancel(err)
			}
			return nil
		}
		if !m.submit(ctx, j) || !emit(m.request(j, env)) {
			return nil
		}
		j.Block = nil
	}
	return nil
}

// submit waits while j has to wait for the results of others, and notes that it waits for its own.
// It reports false if the run ends.
func (m *Submitter) submit(ctx context.Context, j *output.Job) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer context.AfterFunc(ctx, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.changed.Broadcast()
	})()
	for ctx.Err() == nil && (m.Ahead > 0 && j.Position >= m.turn+int64(m.Ahead) || m.Unsettled > 0 && m.unsettled >= m.Unsettled) {
		m.changed.Wait()
	}
	if ctx.Err() != nil || !m.Begin(j) {
		return false
	}
	j.Whole = true
	m.jobs[j.Position] = j
	m.unsettled++
	return true
}

func (m *Submitter) request(j *output.Job, env [][]byte) request {
	q := request{
		Position: j.Position, Seq: j.Seq, Command: bytesOf(m.Spec.Command), Replace: cluster.Text(m.Spec.Replace), Items: bytesOf(j.Items), Block: j.Block, Pipe: m.Spec.Pipe,
		Env: env, Dir: []byte(m.Spec.Dir), Timeout: m.Policy.Timeout, Retries: m.Policy.Retries, NoOverload: m.Policy.NoOverload, RetryDelay: m.Policy.RetryDelay,
	}
	if m.Spec.Shell || len(m.Spec.Command) == 0 {
		q.Shell = cluster.Text(m.Command.Program())
	}
	return q
}

// An outputKey names the output of a job in one call on one worker.
type outputKey struct {
	position int64
	call     string
}

// receive takes a part of output.
func (m *Submitter) receive(p cluster.Part) {
	m.mu.Lock()
	j := m.jobs[int64(p.Index)]
	if j == nil || len(p.Data) == 0 { // it has ended on another worker
		m.mu.Unlock()
		return
	}
	key := outputKey{j.Position, p.Call}
	o, ok := m.outputs[key]
	if !ok {
		o = m.Printer.Open(j)
		m.outputs[key] = o
	}
	m.mu.Unlock()
	s := o.Stdout
	if p.Data[0] == isStderr {
		s = o.Stderr
	}
	_, _ = s.Write(p.Data[1:]) // if there is no room, the job is abandoned
}

// interrupt marks the jobs that have no result as the run ends. Their output may have arrived in
// part.
func (m *Submitter) interrupt() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, j := range m.jobs {
		j.Interrupted = true
	}
	for key, o := range m.outputs {
		m.jobs[key.position].Streams = o
	}
}

// arrived takes the result of a job, and prints what can be printed. It reports false if no job at
// that position waits for a result: a worker can return any.
func (m *Submitter) arrived(position int64, got *response) bool {
	m.mu.Lock()
	j, own := m.jobs[position], m.outputs[outputKey{position, got.Call}]
	if j == nil {
		m.mu.Unlock()
		return false
	}
	delete(m.jobs, position)
	m.results++
	for key, o := range m.outputs {
		if key.position == position {
			delete(m.outputs, key)
			if o != own {
				m.Printer.Discard(o)
			}
		}
	}
	m.mu.Unlock()
	m.take(j, got, own)
	m.Settle(j)
	m.mu.Lock()
	m.unsettled--
	m.changed.Broadcast()
	m.mu.Unlock()
	if m.Ahead == 0 {
		m.Printer.Finish(j)
		return true
	}
	m.ended[position] = j
	for next := m.ended[m.turn]; next != nil; next = m.ended[m.turn] {
		delete(m.ended, m.turn)
		m.Printer.Finish(next)
		m.mu.Lock()
		m.turn++
		m.changed.Broadcast()
		m.mu.Unlock()
	}
	return true
}

// take sets the result of j.
func (m *Submitter) take(j *output.Job, got *response, own output.Streams) {
	if j.Streams = own; own.Stdout == nil {
		j.Streams = m.Printer.Open(j)
		_, _ = j.Stdout.Write(got.Stdout)
		_, _ = j.Stderr.Write(got.Stderr)
	}
	result := got.Result
	result.Host, result.Interrupted = console.Visible(got.Host), false // whatever a worker says
	if got.Err != "" {
		result.Err = errors.New(string(got.Err))
	}
	if j.EndedElsewhere(result); j.Err == nil {
		j.Err = m.Printer.SaveKept(j)
	}
}
