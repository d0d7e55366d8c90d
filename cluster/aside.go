package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// ListAside yields all that was put aside and is kept, the oldest first, where Status has
// the latest. It asks the server for one after the other. An error comes last: that the
// server does not answer until ctx ends. ListAside panics if ctx is nil.
func (e *Engine) ListAside(ctx context.Context) iter.Seq2[Aside, error] {
	if ctx == nil {
		panic("cluster: ListAside: nil Context")
	}
	return func(yield func(Aside, error) bool) {
		for seq := uint64(1); ; {
			var m *jetstream.RawStreamMsg
			err := e.ask(ctx, func(ctx context.Context) (err error) {
				m, err = e.stream["aside"].GetMsg(ctx, seq, jetstream.WithGetMsgSubject(e.names.subject("aside", ">")))
				return err
			})
			if errors.Is(err, jetstream.ErrMsgNotFound) {
				return
			}
			if err != nil {
				yield(Aside{}, e.instead(ctx, fmt.Errorf("cluster: what was put aside: %w", err)))
				return
			}
			if !yield(e.asideOf(m), nil) {
				return
			}
			seq = m.Sequence + 1
		}
	}
}

// asideOf returns what a message of the stream says that was put aside. Its ID is in its subject
// too, by which it is removed.
func (e *Engine) asideOf(m *jetstream.RawStreamMsg) (a Aside) {
	err := json.Unmarshal(m.Data, &a)
	id := strings.TrimPrefix(m.Subject, e.names.subject("aside", ""))
	if last := strings.LastIndexByte(id, '.'); last >= 0 {
		id = id[:last] + "/" + id[last+1:]
	}
	if err == nil && a.ID != id {
		err = errors.New("it has not this ID")
	}
	if err != nil {
		return Aside{ID: id, Reason: "it cannot be read: " + err.Error(), Time: m.Time, Input: m.Data}
	}
	return a
}

// DropAside removes what was put aside with that ID. It returns an error if no such entry
// exists, or if ctx ends before the server answers. DropAside panics if ctx is nil.
func (e *Engine) DropAside(ctx context.Context, id string) error {
	if ctx == nil {
		panic("cluster: DropAside: nil Context")
	}
	p, err := e.findAside(ctx, id)
	if err == nil {
		err = e.purge(ctx, "aside", e.of(p, "aside"))
	}
	if err != nil {
		return e.instead(ctx, fmt.Errorf("cluster: drop %q: %w", id, err))
	}
	return nil
}

// RetryAside puts the task with that ID back into the queue, as part of its run: in place of
// the error that was its result a worker's result comes, and it is not put aside any more.
//
// That is of use while nobody has got that error: the run has a Name, its submitter died
// a minute ago or earlier, and Resume is yet to come. Otherwise the error says so, and nothing is changed:
// the caller of Map has the error, and it is for them to submit the item again. If the
// run is over errors.Is finds ErrRunLost. RetryAside panics if ctx is nil.
func (e *Engine) RetryAside(ctx context.Context, id string) error {
	if ctx == nil {
		panic("cluster: RetryAside: nil Context")
	}
	p, err := e.findAside(ctx, id)
	if err == nil {
		err = e.retry(ctx, p)
	}
	if err != nil {
		return e.instead(ctx, fmt.Errorf("cluster: retry %q: %w", id, err))
	}
	return nil
}

// A poison is a task that was put aside.
type poison struct {
	Aside
	key, index string
}

// of returns the subject of something that belongs to p.
func (e *Engine) of(p *poison, what ...string) string {
	if p.key != "" { // anybody may have put aside what is no task
		what = append(what, p.key)
	}
	return e.names.subject(append(what, p.index)...)
}

// findAside returns what was put aside with that ID.
func (e *Engine) findAside(ctx context.Context, id string) (*poison, error) {
	none := errors.New("nothing with that ID was put aside")
	end := strings.LastIndexByte(id, '/')
	if end == 0 || end == len(id)-1 || strings.Contains(id, "..") || strings.ContainsAny(id, "*> \t\r\n") {
		return nil, none // or it is not a subject, or one that means several
	}
	p := &poison{key: id[:max(end, 0)], index: id[end+1:]}
	m, err := e.last(ctx, "aside", e.of(p, "aside"))
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		return nil, none
	}
	p.Aside = e.asideOf(m)
	return p, nil
}

// retry puts a task back into the queue. The order is such that all of it can be done
// again if it was not done to the end.
func (e *Engine) retry(ctx context.Context, p *poison) error {
	task := owned(e.of(p, "task", tokenOf(p.Task)), p.Input)
	for _, step := range []func() error{
		func() error { return e.wanted(ctx, p) },
		func() error { return e.unheard(ctx, p) },
		func() error { return e.unpoison(ctx, p, task.Subject) },
		func() error { return e.purge(ctx, "runs", e.of(p, "alone")) },
		func() error {
			return e.ask(ctx, func(context.Context) error { return e.send(func() error { return e.store(task) }) })
		},
		func() error { return e.wanted(ctx, p) },
	} {
		err := step()
		if errors.Is(err, ErrRunLost) { // also meanwhile: then it was sent after the rest was removed
			return errors.Join(err, e.remove(ctx, "tasks", task.Subject))
		}
		if err != nil {
			return err
		}
	}
	return e.purge(ctx, "aside", e.of(p, "aside"))
}

// wanted returns an error if the run is over, nobody can resume it, or there is no item.
func (e *Engine) wanted(ctx context.Context, p *poison) error {
	_, malformed := strconv.Atoi(p.index)
	if !isKey(p.key) {
		return errors.New("it is no task")
	}
	rec, err := e.read(ctx, nameOf(p.key))
	switch {
	case err != nil:
		return err
	case rec == nil || rec.Key != p.key:
		return fmt.Errorf("%w: it is over: submit the item again", ErrRunLost)
	case !rec.Named:
		return errors.New("its run has no Name, so that nobody can resume it: submit the item again")
	case p.Task == "" || p.Input == nil || malformed != nil:
		return errors.New("its item was not kept")
	}
	return nil
}

// unheard returns an error if somebody may have heard the result of a task.
func (e *Engine) unheard(ctx context.Context, p *poison) error {
	heard := false
	err := e.ask(ctx, func(ctx context.Context) error {
		all := e.stream["results"].ListConsumers(ctx)
		for c := range all.Info() {
			heard = heard || c.Config.FilterSubject == e.names.subject("result", p.key, "*")
		}
		return all.Err()
	})
	if heard {
		return errors.New("its submitter has its error, or died within the last minute: submit the item again when the run is over")
	}
	return err
}

// unpoison removes the result of a task if that is ErrPoison, or if it was removed before.
func (e *Engine) unpoison(ctx context.Context, p *poison, task string) error {
	if m, err := e.last(ctx, "tasks", task); m != nil || err != nil {
		return errors.Join(err, errors.New("it is in the queue")) // and leaves it when it was put aside
	}
	subject := e.of(p, "result")
	m, err := e.last(ctx, "results", subject)
	if m == nil || err != nil {
		return err
	}
	if o := new(kind).outcome(m.Header, m.Data); isOwn(m.Header) && !errors.Is(o.err, ErrPoison) {
		return errors.New("it has another result")
	}
	return e.purge(ctx, "results", subject)
}
