package run

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/items"
	"github.com/stint-go/stint/cmd/stint/internal/process"
	"github.com/stint-go/stint/cmd/stint/internal/server"
)

const (
	windowBytes = 128 << 20 // of items and results in progress
	remoteBlock = 512 << 10 // of --pipe by default, if a message may be so large

	numbersReserve = 128 // bytes of a message for numbers, names of fields, and the receiver
)

// StallInterval is the time without a result after which the command says what it waits for.
// Tests shorten it.
var StallInterval = 3 * time.Second

// A remote is the jobs of a run on a cluster.
type remote struct {
	*Runner
	client   *cluster.Client
	task     *cluster.Task[request, response]
	parcels  *server.Parcels
	receiver string // of output in pieces: the name of the run

	mu      sync.Mutex
	changed sync.Cond      // turn, unsettled, outputs, or empty
	jobs    map[int64]*job // submitted and without a result, by position
	turn    int64          // position of the job to print next, in order
	results int
	outputs map[outputKey]*output // that arrive in pieces
	empty   int                   // how often the server had no piece

	unsettled int // jobs that were submitted, and are not settled

	ended map[int64]*job // with a result, and not printed; for the goroutine of each
}

// eachRemote runs the jobs of source on the workers of the server.
func (r *Runner) eachRemote(ctx context.Context, source *items.Items) error {
	client, err := r.Server.Connect(ctx, cluster.Log(server.NewFullLog(r.console)))
	if err != nil {
		return err
	}
	defer client.Close()
	parcels, err := r.Server.NewParcels(r.console)
	if err != nil {
		return r.Server.Failed(err)
	}
	defer parcels.Close()
	m := &remote{
		Runner: r, client: client, parcels: parcels,
		jobs: make(map[int64]*job), ended: make(map[int64]*job), outputs: make(map[outputKey]*output),
	}
	m.changed.L = &m.mu
	stop := server.ReportAway(ctx, client, r.console, StallInterval)
	m.task = newTask(m.taskName(ctx), nil)
	err = parcels.Open(ctx)
	stop()
	if err != nil {
		return cmp.Or(context.Cause(ctx), r.Server.Failed(err))
	}
	if err := m.bound(source); err != nil {
		return err
	}
	stall := server.Stall{Client: client, Console: r.console, Interval: StallInterval, Task: m.task.Name(), Output: true, Advice: m.advice, State: m.progress}
	defer stall.Report(ctx)()
	defer m.interrupt()
	return m.each(ctx, source)
}

// bound makes jobs as large as an item of the server may be.
func (m *remote) bound(source *items.Items) error {
	room := m.client.MaxMessage() - len(encode(m.request(&job{}, bytesOf(m.jobEnv())))) - numbersReserve
	if !m.Pipe {
		source.Bound(max(1, room), func(item string) int { return base64.StdEncoding.EncodedLen(len(item)) + len(`"",`) })
		return nil
	}
	most := Size(max(1, room/4*3))
	if m.Block > most && m.Block != remoteBlock { // the default
		return console.Failure("--block " + m.Block.String() + " is too large for " + m.Server.Public() + ": a block has at most " + strconv.FormatInt(int64(most), 10) + " bytes there")
	}
	m.Block, m.maxBlock = min(m.Block, most), int(most)
	return nil
}

// taskName returns the name of the task: that of the workers which run any program, or, if
// there are only workers which run this one, theirs.
func (m *remote) taskName(ctx context.Context) string {
	name := taskName("")
	status, err := m.client.Health(ctx)
	if err != nil || !ValidProgram(m.command.program()) {
		return name
	}
	for _, w := range status.Workers {
		if slices.Contains(w.Tasks, taskName("")) {
			return taskName("")
		}
		if own := taskName(m.command.program()); slices.Contains(w.Tasks, own) {
			name = own
		}
	}
	return name
}

// advice says how to start a worker for these jobs, which none of the given workers runs. A run
// chooses its task when it starts, so workers for the other task that come later do not help.
func (m *remote) advice(workers []cluster.WorkerStatus) string {
	program := m.command.program()
	start, other := "start it with 'stint work --run'", taskName(program)
	if m.task.Name() != taskName("") {
		start, other = "start it with 'stint work --run="+program+"'", taskName("")
	}
	var runs []string
	for _, w := range workers {
		if slices.Contains(w.Tasks, other) {
			return start + ", or start this run again: it would use a worker that is there now"
		}
		for _, task := range w.Tasks {
			if name, ok := strings.CutPrefix(task, taskName("")+"/"); ok && !slices.Contains(runs, name) {
				runs = append(runs, name)
			}
		}
	}
	if len(runs) == 0 {
		return start
	}
	slices.Sort(runs)
	return start + "; the workers run only " + strings.Join(runs, ", ")
}

// progress is the State of a Stall.
func (m *remote) progress() (pending bool, results int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.jobs) > 0, m.results
}

// each submits the jobs and prints them.
func (m *remote) each(ctx context.Context, source *items.Items) error {
	opts := []cluster.Option{cluster.Unordered(), cluster.KeepGoing(), cluster.WindowBytes(windowBytes)}
	if m.Jobs > 0 {
		opts = append(opts, cluster.Limit(m.Jobs))
	}
	receiving, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	requests := func(ctx context.Context, emit func(request) bool) error {
		m.receiver = cluster.TaskInfo(ctx).Run
		wg.Go(func() { m.parcels.Receive(receiving, m.receiver, m.receive) })
		m.requests(ctx, source, emit)
		return nil
	}
	for got, err := range cluster.MapFrom(ctx, m.client, m.task, requests, opts...) {
		position := got.Position
		if item, ok := errors.AsType[*stint.ItemError](err); ok {
			position, err = int64(item.Index), item.Err
			got = response{Error: cluster.Text(err.Error())}
		} else if err != nil {
			if ctx.Err() == nil {
				return m.Server.Failed(err)
			}
			return err
		}
		if !m.waitsFor(position) {
			return m.Server.Failed(errors.New("a worker has sent a result that is not of its job"))
		}
		m.arrived(ctx, position, &got)
	}
	return nil
}

// requests emits a request for each job, and waits while too many jobs wait for an earlier one
// to be printed.
func (m *remote) requests(ctx context.Context, source *items.Items, emit func(request) bool) {
	env := bytesOf(m.jobEnv())
	for j, err := range m.Runner.jobs(ctx, source) {
		if err != nil {
			if ctx.Err() == nil {
				m.cancel(err) // at once, and not after the results of the jobs that run
			}
			return
		}
		if !m.submit(ctx, j) || !emit(m.request(j, env)) {
			return
		}
		j.block = nil
	}
}

// submit notes that j waits for a result. It reports false if the run ends.
func (m *remote) submit(ctx context.Context, j *job) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	stop := m.wakeAfter(ctx)
	defer stop()
	for m.isFarAhead(j) && ctx.Err() == nil {
		m.changed.Wait()
	}
	if m.stopped() || ctx.Err() != nil {
		return false
	}
	j.bytes, j.sent, j.whole = j.size(), int64(len(j.block)), true
	m.jobs[j.position] = j
	m.unsettled++
	m.running(1)
	return true
}

// isFarAhead reports whether j has to wait for the results of others. Jobs in the queue of the
// server are those that still run after --halt soon: then they are few. It is called with mu
// held.
func (m *remote) isFarAhead(j *job) bool {
	return !m.Unordered && j.position >= m.turn+maxAhead || m.Halt.When == Soon && m.unsettled >= cmp.Or(m.Jobs, remoteAhead)
}

func (m *remote) request(j *job, env [][]byte) request {
	q := request{
		Position: j.position, Seq: j.seq, Command: bytesOf(m.Command), Replace: cluster.Text(m.Replace), Items: bytesOf(j.items), Block: j.block, Pipe: m.Pipe,
		Env: env, Dir: []byte(m.Dir), Timeout: time.Duration(m.Timeout), Retries: m.Retries, NoOverload: m.NoOverload, RetryDelay: time.Duration(m.RetryDelay), Receiver: m.receiver,
	}
	if m.Shell || len(m.Command) == 0 {
		q.Shell = cluster.Text(filepath.Base(m.command.name))
	}
	return q
}

// An outputKey names the output of a job in one attempt on one worker.
type outputKey struct {
	position int64
	key      string
}

// An output is output that has arrived in pieces.
type output struct{ stdout, stderr *stream }

// receive takes a piece of output, or learns that the server has none. The pieces of an output
// come one after the other, some perhaps twice.
func (m *remote) receive(data []byte) {
	var p piece
	if data != nil && json.Unmarshal(data, &p) != nil {
		return
	}
	m.mu.Lock()
	if data == nil {
		m.empty++
		m.changed.Broadcast()
		m.mu.Unlock()
		return
	}
	j := m.jobs[p.Position]
	if j == nil { // it has ended on another worker
		m.mu.Unlock()
		return
	}
	key := outputKey{p.Position, p.Key}
	o := m.outputs[key]
	if o == nil {
		o = &output{}
		o.stdout, o.stderr = m.printer.open(j)
		m.outputs[key] = o
	}
	m.mu.Unlock()
	s := o.stdout
	if p.IsErr {
		s = o.stderr
	}
	if p.Offset == s.bytes.Load() {
		_, _ = s.Write(p.Data) // if there is no room, the job is abandoned
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changed.Broadcast()
}

// await waits for all pieces of the output that got names, and returns the output. It is nil
// if got has its output itself, or if the server has lost pieces. It reports false if ctx ends.
func (m *remote) await(ctx context.Context, got *response) (own *output, ok bool) {
	if got.Key == "" {
		return nil, true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	stop := m.wakeAfter(ctx)
	defer stop()
	for before := m.empty; ctx.Err() == nil; m.changed.Wait() {
		o := m.outputs[outputKey{got.Position, got.Key}]
		if o != nil && o.stdout.bytes.Load() == got.StdoutBytes && o.stderr.bytes.Load() == got.StderrBytes {
			return o, true
		}
		if m.empty > before+1 { // it had all before the result, and has none since
			got.Error = "its output was lost by the server"
			return nil, true
		}
	}
	return nil, false
}

// wakeAfter wakes those who wait for changes when ctx ends.
func (m *remote) wakeAfter(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.changed.Broadcast()
	})
}

// waitsFor reports whether the job at position has no result. A worker can return any position.
func (m *remote) waitsFor(position int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.jobs[position] != nil
}

// interrupt marks the jobs that have no result as the run ends. Their output may have arrived in
// part.
func (m *remote) interrupt() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, j := range m.jobs {
		j.interrupted = true
	}
	for key, o := range m.outputs {
		m.jobs[key.position].stdout, m.jobs[key.position].stderr = o.stdout, o.stderr
	}
}

// arrived takes the result of a job, and prints what can be printed.
func (m *remote) arrived(ctx context.Context, position int64, got *response) {
	own, ok := m.await(ctx, got)
	if !ok {
		return // the run ends
	}
	m.mu.Lock()
	j := m.jobs[position]
	delete(m.jobs, position)
	m.results++
	for key, o := range m.outputs {
		if key.position == position {
			delete(m.outputs, key)
			if o != own {
				m.printer.discard(o)
			}
		}
	}
	m.mu.Unlock()
	m.running(-1)
	m.ahead.remove(j.bytes)
	m.take(j, got, own)
	m.settled(j)
	m.mu.Lock()
	m.unsettled--
	m.changed.Broadcast()
	m.mu.Unlock()
	if m.Unordered {
		m.printer.finish(j)
		return
	}
	m.ended[position] = j
	for next := m.ended[m.turn]; next != nil; next = m.ended[m.turn] {
		delete(m.ended, m.turn)
		m.printer.finish(next)
		m.mu.Lock()
		m.turn++
		m.changed.Broadcast()
		m.mu.Unlock()
	}
}

// take sets the result of j.
func (m *remote) take(j *job, got *response, own *output) {
	j.host, j.attempts, j.timedOut = console.Visible(got.Host), got.Attempts, got.TimedOut
	j.Result = process.Result{Exit: got.Exit, Signal: got.Signal, Start: got.Start, Elapsed: got.Elapsed, CPU: got.CPU}
	if got.Error != "" {
		j.err = errors.New(string(got.Error))
	}
	if own != nil {
		j.stdout, j.stderr = own.stdout, own.stderr
	} else {
		j.stdout, j.stderr = m.printer.open(j)
		_, _ = j.stdout.Write(got.Stdout)
		_, _ = j.stderr.Write(got.Stderr)
	}
	j.mu.Lock() // another attempt may still have output
	j.err = cmp.Or(j.abandoned, j.err)
	j.mu.Unlock()
	if m.Results != "" && j.err == nil {
		j.err = saveResults(m.Results, j)
	}
}
