package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// A model scans an open table and returns the consumer's findings. Only models
// that watch ctx are cancelled.
type model struct {
	result.Model
	text bool // it reads the CSV
	scan func(ctx context.Context, in input, use consumer) (tally, error)
}

// An input is an open table with its reader.
type input struct {
	io.Reader
	read reader
}

func (in input) each(yield func(rating) bool) error { return in.read(in.Reader, yield) }

// The names of models that claims are about.
const (
	nameCSV          = "csv"
	nameDirect       = "direct"
	nameBlocks       = "blocks"
	nameChannel      = "channel"
	nameContextBoth  = "channel-context-both"
	nameBatches      = "batches-1000"
	nameGenerate     = "stream.Generate"
	nameSeq          = "stream.FromSeq"
	nameBlocksStream = "stream-blocks"
	nameTallies      = "stream-tallies"
	nameParTallies   = "stream-tallies-ParMap"
)

// allModels returns all models.
func allModels() []model {
	out := []model{lines(), direct(), blocks(), channel(0), channel(1), channel(1000), contextSender(), contextBoth(), done(0), done(1000)}
	for n := 1; n <= 100_000; n *= 10 {
		out = append(out, batches(n))
	}
	return slices.Concat(out, []model{rillGenerate(), concStream(), generateFused(), seqFused(), generate(), seq(), blocksStream(), tallies(), parTallies()})
}

// models returns models at work on t, which compare the consumer's findings
// with the table.
func (t *table) models(use consumer, all ...model) []experiment.Model {
	var out []experiment.Model
	for _, scanner := range all {
		out = append(out, experiment.Model{Model: scanner.Model, Run: func(m *measure.Meter) error {
			m.Start()
			for range m.N / t.n {
				got, err := t.scan(context.Background(), scanner, use)
				if err != nil {
					return err
				}
				if got != t.want {
					return fmt.Errorf("the consumer found %+v, want %+v", got, t.want)
				}
			}
			m.Stop()
			return nil
		}})
	}
	return out
}

// scan opens the file that the model reads, and runs the model.
func (t *table) scan(ctx context.Context, scanner model, use consumer) (tally, error) {
	name := t.binary
	if scanner.text {
		name = t.csv
	}
	in, err := os.Open(name)
	if err != nil {
		return tally{}, err
	}
	defer in.Close()
	return scanner.scan(ctx, input{in, t.read}, use)
}

// cancel cancels scans after a nanosecond per record, a small part of their
// time. Scans that finish before do not count.
func (t *table) cancel(m *measure.Meter, scanner model) error {
	late := time.Duration(0)
	m.Start()
	for tries, ended := 0, 0; ended < m.N; tries++ {
		if tries == 1000*m.N {
			return fmt.Errorf("%d of %d scans of %d records were cancelled, want %d", ended, tries, t.n, m.N)
		}
		took, err := t.cancelOne(scanner)
		if err != nil {
			return err
		}
		if took > 0 {
			ended++
			late += took
		}
	}
	m.Stop()
	m.Report(measure.Time, float64(late.Nanoseconds())/float64(m.N))
	return nil
}

// cancelOne returns how long a scan continued after it was cancelled, or 0 if
// it finished before.
func (t *table) cancelOne(scanner model) (time.Duration, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	at := make(chan time.Time, 1)
	timer := time.AfterFunc(time.Duration(t.n), func() {
		at <- time.Now()
		cancel()
	})
	got, err := t.scan(ctx, scanner, light)
	returned := time.Now()
	switch {
	case timer.Stop():
		return 0, nil
	case errors.Is(err, context.Canceled), err == nil && got == t.want:
		return max(0, returned.Sub(<-at)), nil
	}
	return 0, fmt.Errorf("after %d of %d records the scan returned %v, want %v", got.count, t.n, err, context.Canceled)
}
