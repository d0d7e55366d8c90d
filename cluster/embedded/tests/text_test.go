package tests

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// texts are those that JSON, a terminal or a line may change.
var texts = []string{"\xff", "a\xffb", "\xed\xa0\x80", "a\x00b", "\x1b[31m", "two\nlines", "\ufffd", "\ufffd\xff"}

// A string has the same bytes as an item, a result, an error and a panic, whichever call it goes
// through.
func TestTextsGoThrough(t *testing.T) {
	t.Parallel()
	known := errors.New("known \xff")
	task := cluster.NewTask("text/v1", func(_ context.Context, in string) (string, error) {
		switch text, what, _ := strings.Cut(in, "|"); text {
		case "error":
			return "", fmt.Errorf("%s: %w", what, known)
		case "panic":
			panic(what)
		}
		return in, nil
	}, cluster.Sentinels(known))
	var in []string
	for _, s := range texts {
		in = append(in, s, "error|"+s, "panic|"+s)
	}
	where := newServer(t)
	serve(t, connect(t, where), 2, task)
	client := connect(t, where)
	seq := func(s iter.Seq[string], opts ...cluster.Option) iter.Seq2[string, error] {
		return cluster.MapSeq(bounded(t), client, task, s, append(opts, cluster.KeepGoing())...)
	}
	from := cluster.MapFrom(bounded(t), client, task, func(_ context.Context, emit func(string) bool) error {
		slices.Values(in)(emit)
		return nil
	}, cluster.KeepGoing())
	for door, outs := range map[string]iter.Seq2[string, error]{
		"MapSeq": seq(slices.Values(in)), "MapFrom": from, "Name": seq(slices.Values(in), cluster.Name("text")),
	} {
		i := 0
		for out, err := range outs {
			checkText(t, door, in[i], out, err, known)
			i++
		}
		equal(t, "number of results of "+door, i, len(in))
	}
	other, i := connect(t, where), 0
	for range cluster.MapSeq(bounded(t), other, task, slices.Values(in), cluster.Name("resumed"), cluster.KeepGoing()) {
		other.Close()
	}
	for out, err := range cluster.Resume(bounded(t), client, task, "resumed") {
		if !errors.Is(err, cluster.ErrIncomplete) {
			checkText(t, "Resume", in[i], out, err, known)
			i++
		}
	}
	if i == 0 {
		t.Error("no result after Resume")
	}
	outs, err := cluster.Map(bounded(t), client, task, in, cluster.KeepGoing())
	errs := itemErrors(t, err)
	for i, out := range outs {
		checkText(t, "Map", in[i], out, errs[i], known)
	}
	look(t, where).nothingLeft(t)
}

// checkText fails the test unless out and err are those of an item.
func checkText(t *testing.T, door, in, out string, err, known error) {
	t.Helper()
	what, text, ok := strings.Cut(in, "|")
	var p *stint.PanicError
	switch {
	case !ok:
		if out != in || err != nil {
			t.Errorf("%s of %q: got %q, %v", door, in, out, err)
		}
	case what == "error":
		if err == nil || !strings.HasSuffix(err.Error(), text+": "+known.Error()) || !errors.Is(err, known) {
			t.Errorf("%s of %q: got %q", door, in, err)
		}
	case !errors.As(err, &p) || p.Value != text:
		t.Errorf("%s of %q: got %q, want a panic", door, in, err)
	}
}

// A field that is not UTF-8 is an error that names the item, and not another text.
func TestFieldIsRefused(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	serve(t, connect(t, where), 2, newTask(j))
	all := []item{{N: 0}, {N: 1, Do: "echo", Text: "a\xffb"}, {N: 2}}
	client := connect(t, where)
	_, err := cluster.Map(bounded(t), client, newTask(j), all)
	if want := `work/v1: encode item 1: the string a\ufffdb is not UTF-8`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	outs, err := cluster.Map(bounded(t), client, newTask(j), all, cluster.KeepGoing())
	if errs := itemErrors(t, err); len(errs) != 1 || errs[1] == nil || outs[2].N != answer(2) {
		t.Errorf("got %+v, %v; want an error of item 1", outs, err)
	}
	look(t, where).nothingLeft(t)
}

// The reason of a dead letter names any subject, without a byte that JSON or a terminal changes.
func TestReasonOfADeadLetter(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	client := connect(t, where)
	look(t, where).publish(t, "stint.task.work=v1.a\xffb.\x1b[31m", "x")
	serve(t, client, 1, newTask(j))
	var s *cluster.Status
	eventually(t, "it is a dead letter", func() (ok bool) {
		var err error
		s, err = client.Status(bounded(t))
		return err == nil && len(s.DeadLetters) == 1
	})
	if got, want := s.DeadLetters[0].Reason, `"stint.task.work=v1.a\xffb.\x1b[31m"`; !strings.Contains(got, want) || s.AllDead != 1 {
		t.Errorf("reason %q of %d, want %s of one", got, s.AllDead, want)
	}
}
