// Package servers measures the adaptive limit on real servers: databases, web servers and
// files, near, and behind a proxy that makes them far away, beside all fixed limits and the
// adaptive limit of another library; and a reverse proxy with a limit under overload.
package servers

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/stint-go/stint/lab/child"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment servers.
var Experiment = experiment.New("servers",
	"calls without a limit on PostgreSQL, web servers, Redis and files, near and far, beside fixed limits; a reverse proxy under twice its load",
	sizes{target: time.Second, divisor: 1, step: 2, links: 4,
		gateway: gateway{capacity: 20, service: 50 * time.Millisecond, patience: time.Second, warmup: 5 * time.Second, length: 10 * time.Second}},
	sizes{target: 4 * time.Millisecond, divisor: 10, step: 16, links: 1,
		gateway: gateway{capacity: 2, service: 4 * time.Millisecond, patience: 80 * time.Millisecond, warmup: 10 * time.Millisecond, length: 50 * time.Millisecond}}, run)

// sizes are smaller in quick runs and tests.
type sizes struct {
	target  time.Duration // of a call that is no batch
	divisor int           // of the number of tasks of a batch, and of the batches of a sample
	step    int           // factor between fixed limits
	links   int           // distances of a server, at most
	own     bool          // only servers of our own
	gateway gateway
}

// samples give an interval.
const samples = 6

// A server serves tasks.
type server struct {
	name    string
	start   func(ctx context.Context, home string) (p *child.Process, address string, err error) // nil: nothing is to be started
	connect func(ctx context.Context, address string) (tasks []task, end func(), err error)
	links   []link
	rows    []row // of the tasks
}

// A link leads to a server. A far one has longer round trips than a direct connection.
type link struct {
	name        string
	rtt, jitter time.Duration
}

// distances are the links to most servers.
func distances() []link {
	const rtt = 20 * time.Millisecond
	return []link{{name: "/near"}, {name: "/rtt=2ms", rtt: 2 * time.Millisecond}, {name: "/rtt=20ms", rtt: rtt},
		{name: "/rtt=20ms/jitter=20ms", rtt: rtt, jitter: rtt}}
}

// servers are all that are measured.
func (z sizes) servers() []server {
	const pageDoc = "an op is a GET of a page of 1 KiB"
	few, many, batch, far := 100/z.divisor, 1000/z.divisor, 300/z.divisor, distances()[2:3]
	all := []server{
		{name: "sleep", connect: sleeping(few), links: []link{{}}, rows: []row{
			{name: fmt.Sprintf("batch=%d/wait=0-9ms", few), doc: "an op is all tasks, which sleep for 0 to 9 ms", batch: few, most: 14 * time.Millisecond},
			{name: fmt.Sprintf("batch=%d/wait=5ms", many), doc: "an op is all tasks, which sleep for 5 ms", batch: many, bar: 1.35},
		}},
		{name: "http", start: role{}.start, connect: connectWeb, links: distances(), rows: []row{{name: "http", doc: pageDoc}}},
		{name: "http-batch", start: role{}.start, connect: connectWeb, links: far, rows: []row{
			{name: fmt.Sprintf("http/batch=%d", batch), doc: "an op is all GETs, of a page of 1 KiB", batch: batch, bar: 1.6, than: nameAll},
		}},
		{name: "files", connect: writeFiles, links: []link{{}}, rows: []row{
			{name: "files", doc: "an op is a new file of 4 KiB, with fsync, which is then removed"},
		}},
		{name: "postgres", start: postgres.start, connect: connectPostgres, links: distances()[:3], rows: []row{
			{name: "select", doc: "an op is a select by key, in PostgreSQL"},
			{name: "update", doc: "an op is an update by key, in PostgreSQL"},
			{name: "aggregate", doc: fmt.Sprintf("an op counts %d rows, in PostgreSQL", aggregated)},
			{name: "pg_sleep=5ms", doc: "an op is a select of pg_sleep(0.005), in PostgreSQL"},
		}},
		{name: "nginx", start: nginx.start, connect: connectWeb, links: distances()[:3], rows: []row{{name: "nginx", doc: pageDoc}}},
		{name: "redis", start: redisServer.start, connect: connectRedis, links: distances()[:3], rows: []row{{name: "redis", doc: "an op is a GET, in Redis"}}},
	}
	if z.own {
		all = all[:4]
	}
	return all
}

// A lab measures the rows of an experiment.
type lab struct {
	sizes
	*experiment.Bench
	dir      string
	measured []row
}

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	z.target = cmp.Or(s.Time, z.target)
	return s.InFolder("servers", func(dir string) (*result.Result, error) {
		l := &lab{sizes: z, dir: dir, Bench: s.NewBench("servers",
			"requests to servers on this machine, with fixed limits, without one, and with the adaptive limit of another library",
			"near is a direct connection. rtt=T is a proxy that makes each round trip T longer. "+
				"The servers and the proxy are processes of their own, on the same processors.",
			"limit-N is stint.Range with stint.Limit(N). stint.Range has no option. "+
				"stint.Range-again is the second call with one Auto(1, 256), after a first that is not timed.",
			fmt.Sprintf("A call runs tasks for %v, or a quarter of that if a fixed limit is half as fast as the best model, "+
				"and waits for those that run then. All tasks of a batch are run. Connections are open before.", z.target),
			z.gateway.note())}
		err := os.Chmod(dir, 0o711) // for servers that run as another user
		for _, s := range l.servers() {
			if err == nil {
				err = l.server(ctx, s)
			}
		}
		l.Claim(slices.Concat(l.claims(), z.gateway.claims())...)
		if err == nil {
			err = l.Measure(ctx, z.gateway.kase())
		}
		return l.Conclude(err)
	})
}

// server measures the rows of a server that the session selects.
func (l *lab) server(ctx context.Context, s server) error {
	s.links = s.links[:min(l.links, len(s.links))]
	selects := func(k link) bool {
		return slices.ContainsFunc(s.rows, func(r row) bool { return l.SelectsCase(r.name + k.name) })
	}
	address := l.dir
	if s.start != nil && slices.ContainsFunc(s.links, selects) {
		p, at, err := s.start(ctx, l.dir)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			text := fmt.Sprintf("%s is skipped: %v", s.name, err)
			l.Logf("servers: %s", text)
			l.Result.Notes = append(l.Result.Notes, text+".")
			return nil
		}
		defer p.End()
		address = at
	}
	for _, k := range s.links {
		if selects(k) {
			if err := l.over(ctx, k, s, address); err != nil {
				return err
			}
		}
	}
	return nil
}

// over measures the rows of a server at a distance.
func (l *lab) over(ctx context.Context, k link, s server, address string) error {
	if k.rtt > 0 {
		p, far, err := role{To: address, RoundTrip: k.rtt, Jitter: k.jitter}.start(ctx, "")
		if err != nil {
			return err
		}
		defer p.End()
		address = far
	}
	tasks, end, err := s.connect(ctx, address)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	defer end()
	for i, r := range s.rows {
		r.name += k.name
		if !l.SelectsCase(r.name) {
			continue
		}
		r.sizes, r.task = l.sizes, tasks[i]
		var last []result.Trace
		if err := l.Measure(ctx, r.kase(func(t result.Trace) { last = []result.Trace{t} })); err != nil {
			return err
		}
		l.Result.Traces = append(l.Result.Traces, last...)
		l.measured = append(l.measured, r)
	}
	return nil
}

// The conclusions.
const (
	nearBest = "On servers, a call without a limit is about as fast as with the best fixed limit, which differs from server to server."
	learned  = "A second call with the same adaptive limit is as fast as with the best fixed limit."
	short    = "Also short batches take little longer than with the best limit."
)

// claims returns the claims about the rows that were measured.
func (l *lab) claims() []result.Claim {
	var out []result.Claim
	var all, long []string
	for _, r := range l.measured {
		all = append(all, r.name)
		c := experiment.AtMost(cmp.Or(r.bar, 1.2), r.name, nameRange, cmp.Or(r.than, result.BestSwept), short)
		if r.most > 0 {
			c = result.Claim{Case: r.name, Model: nameRange, Unit: measure.Time, Form: result.Value, Bar: float64(r.most), Conclusion: short}
		}
		if r.batch == 0 {
			long, c.Conclusion = append(long, r.name), nearBest
		}
		out = append(out, c)
	}
	mean := func(bar float64, cases []string, model, conclusion string) {
		if len(cases) > 0 {
			c := experiment.AtMost(bar, fmt.Sprintf("mean of %d", len(cases)), model, result.BestSwept, conclusion)
			c.Cases = cases
			out = append(out, c)
		}
	}
	mean(1.1, all, nameRange, nearBest)
	mean(1.05, long, nameAgain, learned)
	return out
}
