package main

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

const (
	// askAhead is how many files may be asked for and not answered. Each has a
	// goroutine that waits for the answer.
	askAhead = 4096

	// lookEvery is how often it is found out why no answer comes.
	lookEvery = 3 * time.Second
)

// asker has digests computed by the workers of a cluster, for many callers of digest
// at once. All that one asker asks is one run of the cluster.
type asker struct {
	where   *connection
	engine  *cluster.Engine
	task    *cluster.Task[question, answer]
	console *console
	bytes   *atomic.Int64 // of answered files, for the progress line
	dir     string        // that relative paths begin in

	calls   chan *call    // from callers, to be submitted; closed when there are no more
	asked   chan *call    // submitted and not answered, in that order
	answers atomic.Int64  // how many have come
	done    chan struct{} // closed at the end of the run, when err is set
	err     error
	wg      sync.WaitGroup
}

// call is one call of digest. Its reply is answered once, or never when the run ends.
type call struct {
	question
	reply chan reply
}

type reply struct {
	answer
	err error
}

// askWorkers makes the workers compute the digests of s. Its end must be called when
// nobody asks any more, with the error of those who did: it ends the run, and waits
// until that is done.
func (s *summer) askWorkers(ctx context.Context, e *cluster.Engine) (end func(error), err error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, &failure{"the current directory: " + reason(err)}
	}
	a := &asker{
		where: &s.connection, engine: e, task: digestTask(s.digester),
		console: s.console, bytes: &s.digester.bytes, dir: dir,
		calls: make(chan *call), asked: make(chan *call, askAhead), done: make(chan struct{}),
	}
	ctx, cancel := context.WithCancel(ctx)
	opts := append(s.limit, stint.Queue(askAhead), stint.KeepGoing())
	a.wg.Go(func() { a.run(ctx, opts) })
	a.wg.Go(func() { a.look(ctx) })
	s.digest, s.limit = a.digest, []stint.Option{stint.Limit(askAhead)}
	return func(err error) {
		if err != nil { // some of what was asked may not be answered
			cancel()
		}
		close(a.calls)
		a.wg.Wait()
		cancel()
	}, nil
}

// digest is the digester's method of that name, by a worker.
func (a *asker) digest(ctx context.Context, it item, alg *algorithm) (result, error) {
	r := result{item: it, alg: alg}
	switch {
	case it.err != nil || it.kind == skipped:
		return r, nil
	case it.kind == stdin || it.kind == stdinAgain:
		r.err = errors.New("standard input: workers cannot read it")
		return r, nil
	case it.kind == special:
		r.err = errNotShared
		return r, nil
	}
	c := &call{question{[]byte(a.absolute(it.path)), alg.name}, make(chan reply, 1)}
	select {
	case a.calls <- c:
	case <-a.done:
		return r, a.err
	case <-ctx.Done():
		return r, context.Cause(ctx)
	}
	select {
	case got := <-c.reply:
		if r.err = got.err; r.err == nil {
			r = got.result(it, alg)
		}
		return r, nil
	case <-a.done:
		return r, a.err
	case <-ctx.Done():
		return r, context.Cause(ctx)
	}
}

// absolute does not clean the path: what a/../b is depends on where a leads.
func (a *asker) absolute(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return a.dir + string(filepath.Separator) + path
}

// run submits what is asked and hands the answers out, until there are no more
// questions, ctx ends, or the run fails.
func (a *asker) run(ctx context.Context, opts []stint.Option) {
	defer close(a.done)
	a.err = errors.New("the run has ended early")
	for got, err := range cluster.MapSeq(ctx, a.engine, a.task, a.questions(ctx), opts...) {
		var one *stint.ItemError
		switch {
		case errors.As(err, &one):
			err = one.Err
		case ctx.Err() != nil:
			a.err = context.Cause(ctx)
			return
		case err != nil:
			a.err = a.where.failed(err)
			return
		}
		c := <-a.asked
		a.bytes.Add(got.Size)
		a.answers.Add(1)
		c.reply <- reply{got, err}
	}
}

// questions yields what is asked.
func (a *asker) questions(ctx context.Context) iter.Seq[question] {
	return func(yield func(question) bool) {
		for {
			select {
			case c, ok := <-a.calls:
				if !ok {
					return
				}
				a.asked <- c
				if !yield(c.question) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// look says why no answer comes, once for each reason.
func (a *asker) look(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var before int64
	said := map[string]bool{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.done:
			return
		case <-tick.C:
		}
		now := a.answers.Load()
		if now == before && len(a.asked) > 0 {
			if why := a.why(ctx); why != "" && !said[why] && ctx.Err() == nil {
				a.console.message(why)
				said[why] = true
			}
		}
		before = now
	}
}

// why says what keeps the answers from coming, or nothing.
func (a *asker) why(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, lookEvery)
	defer cancel()
	status, err := a.engine.Status(ctx)
	if err != nil {
		return "the server does not answer; waiting for it"
	}
	for _, w := range status.Workers {
		if slices.Contains(w.Tasks, a.task.Name()) {
			return ""
		}
	}
	return "no worker has answered yet; waiting for one (stint work)"
}
