package tests

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// typed is an error of which a nil pointer may be returned.
type typed struct{ text string }

func (e *typed) Error() string { return e.text }

// rude is an error whose methods panic.
type rude struct{ text string }

func (e rude) Error() string {
	if e.text == "" {
		panic("a rude text")
	}
	return e.text
}

func (e rude) Is(error) bool { panic("a rude comparison") }

// A worker survives errors whose methods panic, and the submitter gets the panic.
func TestFaultyErrors(t *testing.T) {
	t.Parallel()
	faults := []error{(*typed)(nil), rude{}, rude{"polite"}, nil}
	texts := []string{"nil pointer", "a rude text", "a rude comparison", ""}
	task := cluster.NewTask("work/v1", func(ctx context.Context, in item) (outcome, error) {
		return outcome{N: answer(in.N)}, faults[in.N]
	})
	where := newServer(t)
	serve(t, connect(t, where), 2, task)
	c := connect(t, where)
	for range 2 {
		outs, err := cluster.Map(bounded(t), c, task, items(len(faults), item{}), cluster.KeepGoing())
		errs := itemErrors(t, err)
		for i, text := range texts {
			if text == "" {
				equal(t, "result", outs[i].N, answer(i))
				equal(t, "error", errs[i], nil)
			} else if errs[i] == nil || !strings.Contains(errs[i].Error(), text) {
				t.Errorf("error of item %d: got %v, want one of %q", i, errs[i], text)
			}
		}
	}
	look(t, where).nothingLeft(t)
}

// An error that is larger than the server accepts is truncated.
func TestLargeErrors(t *testing.T) {
	t.Parallel()
	texts := []string{"x", "<", "\x00", "x", "\xff"}
	task := cluster.NewTask("work/v1", func(ctx context.Context, in item) (outcome, error) {
		text := "it said: " + strings.Repeat(texts[in.N], 2*payload)
		if in.Do == "panic" {
			panic(text)
		}
		return outcome{}, errors.New(text)
	})
	where := newServer(t, func(o *server.Options) { o.MaxPayload = payload })
	serve(t, connect(t, where), 2, task)
	all := items(len(texts), item{})
	all[3].Do, all[4].Do = "panic", "panic"
	_, err := cluster.Map(bounded(t), connect(t, where), task, all, cluster.KeepGoing())
	errs := itemErrors(t, err)
	for i, in := range all {
		if errs[i] == nil || !strings.Contains(errs[i].Error(), "it said: ") {
			t.Errorf("error of item %d: got %.100v", i, errs[i])
		}
		if _, ok := errors.AsType[*stint.PanicError](errs[i]); ok != (in.Do == "panic") {
			t.Errorf("item %d: is a panic: %v", i, ok)
		}
	}
	look(t, where).nothingLeft(t)
}

// An error of a task that means something else at the submitter, such as context.Canceled, cancels its run as
// any other does.
func TestErrorsOfOtherMeaning(t *testing.T) {
	t.Parallel()
	for _, want := range []error{stint.ErrClosed, cluster.ErrRunLost} {
		where, j := newServer(t), newJournal(t)
		task := cluster.NewTask("work/v1", func(ctx context.Context, in item) (outcome, error) {
			j.noteTask(cluster.TaskInfo(ctx), "begin", "")
			defer func() { j.noteTask(cluster.TaskInfo(ctx), "end", causeOf(ctx)) }()
			if in.N == 0 {
				j.opened("fail", ctx.Done())
				return outcome{}, fmt.Errorf("another pool: %w", want)
			}
			<-ctx.Done()
			return outcome{}, nil
		}, cluster.Sentinels(want))
		serve(t, connect(t, where), 4, task)
		client := connect(t, where)
		c := begin(bounded(t), client, task, items(20, item{}))
		j.seen(t, 4, "begun", is("begin"))
		j.open(t, "fail")
		c.fails(t, want)
		look(t, where).nothingLeft(t)
		ended(t, j)
	}
}
