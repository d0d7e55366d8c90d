// Package trial runs experiments in tests, with so little work that they take
// no time.
package trial

import (
	"context"
	"io"
	"runtime"
	"testing"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
)

// Wrong checks that a model with a wrong sum is detected, in the first run and
// in a later one.
func Wrong(t *testing.T, l models.List) {
	t.Helper()
	for wrong := range 3 {
		calls := 0
		m := models.Simple("wrong", result.Peer, "", func(l models.List) uint64 {
			if calls++; calls == wrong {
				return l.Want + 1
			}
			return l.Sum()
		})
		if err := l.Models(m)[0].Run(&measure.Meter{N: 2}); (err != nil) != (wrong > 0) {
			t.Errorf("a list of %d items, run %d wrong: got %v", l.N, wrong, err)
		}
	}
}

// Want is the expected size of an experiment at some number of processors.
type Want struct{ Processors, Cases, Verdicts int }

// Run runs an experiment end to end, once per want. It checks that every case
// has a unique name and a row of its reference, every model a unique name and a
// comment, and every claim rows.
func Run[S any](t *testing.T, run func(context.Context, *experiment.Session, S) (*result.Result, error), sizes S, wants ...Want) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, want := range wants {
		runtime.GOMAXPROCS(want.Processors)
		s := &experiment.Session{Quick: true, Count: 1, Log: io.Discard}
		r, err := run(t.Context(), s, sizes)
		if err != nil {
			t.Fatal(err)
		}
		docs := map[string]string{} // of cases and models, to find two of one name
		for _, c := range r.Cases {
			if _, ok := docs[c.Name]; ok || r.Row(c.Name, c.Reference) == nil {
				t.Errorf("two cases are named %s, or it has no row of %s", c.Name, c.Reference)
			}
			docs[c.Name] = c.Doc
		}
		if len(docs) != want.Cases || len(r.Verdicts) != want.Verdicts {
			t.Errorf("%d processors: %d cases and %d verdicts, want %d and %d: %q", want.Processors, len(docs), len(r.Verdicts), want.Cases, want.Verdicts, docs)
		}
		clear(docs)
		for _, m := range r.Models {
			if doc, ok := docs[m.Name]; ok || m.Doc == "" {
				t.Errorf("%s is two models, or has no comment: %q, %q", m.Name, doc, m.Doc)
			}
			docs[m.Name] = m.Doc
		}
		for _, v := range r.Verdicts { // a ratio to no switches or collections has no value
			if v.Figures.N != 1 && v.Unit != measure.Collections && v.Unit != measure.Switches {
				t.Errorf("%+v: %d samples, want 1", v.Claim, v.Figures.N)
			}
		}
	}
}
