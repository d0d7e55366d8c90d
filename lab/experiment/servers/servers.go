// Package servers measures the adaptive limit on real servers: databases, web
// servers and files, near, and behind a proxy that makes them far away, beside all
// fixed limits and the adaptive limits of others.
package servers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment servers.
var Experiment = experiment.New("servers", "calls without a limit on PostgreSQL, web servers, Redis and files, near and far, beside fixed and other adaptive limits",
	sizes{target: time.Second, samples: 6, divisor: 1}, sizes{target: 20 * time.Millisecond, samples: 6, divisor: 10, few: true}, run)

// sizes are smaller in quick runs and tests.
type sizes struct {
	target  time.Duration // of a call, with the best limit
	samples int           // of each model; six give an interval
	divisor int           // of the number of tasks of a batch
	few     bool          // few limits and distances
	own     bool          // only servers of our own
}

// step returns the factor between fixed limits.
func (z sizes) step() int {
	if z.few {
		return 4
	}
	return 2
}

// A lab measures the rows of an experiment.
type lab struct {
	sizes
	*experiment.Bench
	dir string
}

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	z.target = cmp.Or(s.Time, z.target)
	return s.InFolder("servers", func(dir string) (*result.Result, error) {
		l := &lab{sizes: z, dir: dir, Bench: s.NewBench("servers", "requests to servers on this machine, with fixed limits, without one, and with the adaptive limits of others",
			"near is a direct connection. rtt=T is a proxy that makes each round trip T longer. The servers and the proxy are processes of their own, on the same processors.",
			"limit-N is stint.Range with stint.Limit(N). stint.Range has no option. stint.Range-again is the second call with one Auto(1, 256), after a first that is not timed.",
			fmt.Sprintf("A call has as many tasks as the best limit serves in about %v. Samples of fixed limits and of peers end after that time, whatever is left, or after a quarter of it if they are half as fast as the best.", z.target),
			"Connections are open before the first task.")}
		err := l.measure(ctx)
		l.Claim(claims(l.Result)...)
		return l.Conclude(err)
	})
}

// measure measures all rows, one server after the other.
func (l *lab) measure(ctx context.Context) error {
	for _, s := range l.servers() {
		if l.few && len(s.links) > 0 {
			s.links = s.links[:1]
		}
		if err := l.server(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// server measures the rows of a server that the session selects.
func (l *lab) server(ctx context.Context, s server) error {
	if len(s.links) == 0 {
		s.links = []link{{}}
	}
	if !slices.ContainsFunc(s.links, func(k link) bool { return len(l.selected(s, k)) > 0 }) {
		return nil
	}
	at, err := s.open(ctx, l.dir, l.Listing())
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		text := fmt.Sprintf("%s is skipped: %v", s.name, err)
		l.Logf("servers: %s", text)
		l.Result.Notes = append(l.Result.Notes, text+".")
		return nil
	}
	defer at.stop()
	for _, k := range s.links {
		if rows := l.selected(s, k); len(rows) > 0 {
			if err := l.over(ctx, k, s, at, rows); err != nil {
				return err
			}
		}
	}
	return nil
}

// selected returns the rows of a server at a distance that the session selects,
// under their whole names.
func (l *lab) selected(s server, k link) []row {
	var out []row
	for i, r := range s.rows {
		r.index, r.samples, r.step = i, l.samples, l.step()
		if k.name != "" {
			r.name += "/" + k.name
		}
		if l.SelectsCase(r.name) {
			out = append(out, r)
		}
	}
	return out
}

// over measures rows of a server at a distance.
func (l *lab) over(ctx context.Context, k link, s server, at running, rows []row) error {
	if l.Listing() {
		return l.rows(ctx, rows)
	}
	address := at.near
	if k.isFar() {
		proxied, stop, err := child{To: at.address, RoundTrip: k.rtt, Jitter: k.jitter}.start(ctx)
		if err != nil {
			return err
		}
		defer stop()
		address = proxied
	}
	tasks, end, err := s.connect(ctx, address)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	defer end()
	for i := range rows {
		rows[i].task = tasks[rows[i].index]
		if rows[i].n == 0 {
			if rows[i], err = rows[i].sized(l.target); err != nil {
				return fmt.Errorf("%s: %w", rows[i].name, err)
			}
		}
	}
	return l.rows(ctx, rows)
}

// rows measures rows, and keeps the last trace of each model.
func (l *lab) rows(ctx context.Context, rows []row) error {
	for _, r := range rows {
		traces := map[string]result.Trace{}
		if err := l.Measure(ctx, r.kase(func(t result.Trace) { traces[t.Model] = t })); err != nil {
			return err
		}
		for _, m := range r.models() {
			if t, ok := traces[m.Name]; ok {
				l.Result.Traces = append(l.Result.Traces, t)
			}
		}
	}
	return nil
}
