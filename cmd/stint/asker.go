package main

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// askAhead is runAhead where files are in the queue of a server, and their results in
// its memory.
const askAhead = 4096

// lookEvery is how often it is found out why no answer comes. A test makes it shorter.
var lookEvery = 3 * time.Second

// asker asks the workers of a cluster, and waits for them. All that one asker asks is
// one run of the cluster.
type asker struct {
	*summer
	engine *cluster.Engine
	task   *cluster.Task[question, answer]
	dir    string        // that relative paths begin in
	every  time.Duration // lookEvery

	mu       sync.Mutex
	asked    []result // without digest, in the order in which they were asked for
	answered int      // how many there were before these
}

// A roomLog says on a console what waits for room on a server that is full, once for each
// reason. Whatever else the library reports, the answers or the error tell.
type roomLog struct {
	slog.Handler // nobody asks it
	console      *console
	said         *sync.Map
}

func newRoomLog(c *console) *slog.Logger {
	return slog.New(roomLog{slog.DiscardHandler, c, new(sync.Map)})
}

func (roomLog) Enabled(context.Context, slog.Level) bool { return true }

func (l roomLog) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok && errors.Is(err, cluster.ErrFull) {
			text := oneLine(strings.TrimPrefix(err.Error(), "cluster: "))
			if _, before := l.said.LoadOrStore(text, true); !before {
				l.console.message(text + "; waiting for room")
			}
		}
		return true
	})
	return nil
}

// askWorkers makes the workers compute the digests of s.
func (s *summer) askWorkers(e *cluster.Engine) error {
	dir, err := os.Getwd()
	if err != nil {
		return &failure{"the current directory: " + reason(err)}
	}
	s.asker = &asker{summer: s, engine: e, task: digestTask(s.digester), dir: dir, every: lookEvery}
	return nil
}

// digests is what the digester of this machine does with what is wanted, done by workers.
func (a *asker) digests(ctx context.Context, wanted iter.Seq[result]) iter.Seq2[result, error] {
	opts := append(slices.Clone(a.limit), stint.Queue(askAhead), stint.KeepGoing())
	return func(yield func(result, error) bool) {
		stop := a.watchWorkers(ctx)
		defer stop()
		for got, err := range cluster.MapSeq(ctx, a.engine, a.task, a.questions(wanted), opts...) {
			var one *stint.ItemError
			switch {
			case errors.As(err, &one):
				err = one.Err
			case err != nil && ctx.Err() == nil:
				yield(result{}, a.connection.failed(err))
				return
			case err != nil:
				yield(result{}, err)
				return
			}
			r := a.take()
			r.answered(&got, err)
			a.digester.bytes.Add(r.size)
			if !yield(r, nil) {
				return
			}
		}
	}
}

// questions yields one for each result that is wanted, an empty one if there is
// nothing that a worker could read: it has its place in the order, and its share in
// what limits how far ahead it is asked.
func (a *asker) questions(wanted iter.Seq[result]) iter.Seq[question] {
	return func(yield func(question) bool) {
		for r := range wanted {
			r.refuse()
			var q question
			if r.err == nil && r.kind != skipped {
				q = question{[]byte(a.absolute(r.path)), r.alg.name}
			}
			a.mu.Lock()
			a.asked = append(a.asked, r)
			a.mu.Unlock()
			if !yield(q) {
				return
			}
		}
	}
}

// take returns the first of what was asked for.
func (a *asker) take() result {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.asked[0]
	a.asked[0] = result{}
	a.asked = a.asked[1:]
	a.answered++
	return r
}

// absolute is path as a worker is given it. One that reads below a directory only knows
// paths by their text.
func (a *asker) absolute(path string) string {
	if path != "" && !filepath.IsAbs(path) {
		path = a.dir + string(filepath.Separator) + path
	}
	return undotted(path)
}

// watchWorkers says why no answer comes, once for each reason, until it is stopped.
func (a *asker) watchWorkers(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(a.every)
		defer tick.Stop()
		before, said := 0, map[string]bool{}
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			waiting, answered := a.progress()
			if answered == before {
				if why := a.why(ctx, waiting > 0); why != "" && !said[why] {
					a.console.message(why)
					said[why] = true
				}
			}
			before = answered
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

// progress counts what is asked for and what was answered.
func (a *asker) progress() (waiting, answered int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.asked), a.answered
}

// why says what keeps the answers from coming, or nothing. Until something was asked for, that
// is the server.
func (a *asker) why(ctx context.Context, asked bool) string {
	asking, cancel := context.WithTimeout(ctx, max(a.every, time.Second))
	defer cancel()
	status, err := a.engine.Status(asking)
	switch {
	case ctx.Err() != nil:
		return ""
	case err != nil:
		return "the server does not answer; waiting for it"
	case status.Store != "":
		return "the server stores nothing: " + oneLine(status.Store) + "; waiting for it"
	case !asked:
		return ""
	}
	for _, w := range status.Workers {
		if slices.Contains(w.Tasks, a.task.Name()) {
			return ""
		}
	}
	return "no worker has answered yet; waiting for one, as started by 'stint work'"
}
