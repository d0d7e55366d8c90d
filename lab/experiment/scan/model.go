package scan

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/stream"
)

// A model scans an open table and returns the consumer's findings. Only models that
// watch ctx are cancelled.
type model struct {
	result.Model
	text bool // it reads the CSV
	run  func(ctx context.Context, next nextRecord, use consumer) (tally, error)
}

// The consumer calls NextRecord. The article ends with such a scanner.
var (
	csvDirect = model{result.Peer.Model("csv", "NextRecord with encoding/csv and strconv, called by the consumer"), true, pull}
	direct    = model{result.Peer.Model("direct", "NextRecord of the binary file, called by the consumer"), false, pull}
)

// models returns the named models, or all.
func models(names ...string) []model {
	return slices.DeleteFunc(slices.Concat([]model{csvDirect, direct}, links(), streams()), func(m model) bool {
		return len(names) > 0 && !slices.Contains(names, m.Name)
	})
}

func pull(_ context.Context, next nextRecord, use consumer) (t tally, err error) {
	for r := range records(next, &err) {
		t = use(t, r)
	}
	return t, err
}

// streams returns the models with a stream, each without a boundary, where the consumer
// reads, and with one.
func streams() []model {
	sequence := func(next nextRecord, failed *error) stream.Stream[rating] {
		return stream.FromSeq(records(next, failed))
	}
	generate := func(next nextRecord, _ *error) stream.Stream[rating] {
		return stream.Generate(func(_ context.Context, emit func(rating) bool) (err error) {
			records(next, &err)(emit)
			return err
		})
	}
	var out []model
	for _, w := range []struct {
		name, doc string
		from      func(nextRecord, *error) stream.Stream[rating]
		end       func(context.Context, stream.Stream[rating], consumer) (tally, error)
	}{
		{"stream.FromSeq", "FromSeq, Reduce", sequence, reduce},
		{"stream.Generate", "Generate, Reduce", generate, reduce},
		{"stream.NextRecord", "NextRecord is iter.Pull2 of All of Generate, called by the consumer", generate, pullStream},
	} {
		for _, size := range []int{0, 1000} {
			m := result.Ours.Model(w.name+"-fused", w.doc)
			if size > 0 {
				m = result.Ours.Model(w.name, fmt.Sprintf("%s; a Buffer of %d", w.doc, size))
			}
			out = append(out, model{Model: m, run: func(ctx context.Context, next nextRecord, use consumer) (tally, error) {
				var failed error
				s := w.from(next, &failed)
				if size > 0 {
					s = stream.Buffer(s, size)
				}
				t, err := w.end(ctx, s, use)
				return t, cmp.Or(err, failed)
			}})
		}
	}
	return out
}

func reduce(ctx context.Context, s stream.Stream[rating], use consumer) (tally, error) {
	return stream.Reduce(ctx, s, tally{}, use)
}

func pullStream(ctx context.Context, s stream.Stream[rating], use consumer) (tally, error) {
	next, stop := iter.Pull2(s.All(ctx))
	defer stop()
	return pull(ctx, func() (rating, error) {
		r, err, ok := next()
		if !ok {
			return r, io.EOF
		}
		return r, err
	}, use)
}

// scan opens the file that a model reads, and runs the model.
func (t *table) scan(ctx context.Context, d decoding, m model, use consumer) (tally, error) {
	name, decoder, steps := t.binary, d.binary, d.binarySteps
	if m.text {
		name, decoder, steps = t.csv, lines, d.csvSteps
	}
	in, err := os.Open(name)
	if err != nil {
		return tally{}, err
	}
	defer in.Close()
	next := decoder(in)
	if steps > 0 {
		next = computing(next, steps)
	}
	return m.run(ctx, next, use)
}

// at returns models at work on t, which compare the consumer's findings with the table.
func (t *table) at(d decoding, use consumer, ways []model) []experiment.Model {
	var out []experiment.Model
	for _, way := range ways {
		out = append(out, experiment.Model{Model: way.Model, Run: func(m *measure.Meter) error {
			m.Start()
			for range m.N / t.n {
				if got, err := t.scan(context.Background(), d, way, use); err != nil || got != t.want {
					return fmt.Errorf("the consumer found %+v, want %+v: %w", got, t.want, err)
				}
			}
			m.Stop()
			return nil
		}})
	}
	return out
}
