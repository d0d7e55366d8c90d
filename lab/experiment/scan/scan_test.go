package scan

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, run, sizes{4000, 400}, trial.Want{Processors: 1, Cases: 4, Verdicts: 40}, trial.Want{Processors: 2, Cases: 6, Verdicts: 86})
}

// small returns a table of n records.
func small(t *testing.T, n int) *table {
	t.Helper()
	tab, err := write(t.Context(), t.TempDir(), "test", n)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// Every model passes on every record, in each run, with each decoding, for any number of
// records relative to batches.
func TestModels(t *testing.T) {
	for _, n := range []int{1, 2, 999, 1000, 1001, 7000} {
		for _, d := range []decoding{{binary: byField}, {binary: reflected, binarySteps: 1, csvSteps: 1}} {
			for _, m := range small(t, n).at(d, light, models()) {
				if err := m.Run(&measure.Meter{N: 2 * n}); err != nil {
					t.Errorf("%d records: %s: %v", n, m.Name, err)
				}
			}
		}
	}
}

// Cases, sentences and figures name models that there are.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range models() {
		if seen[m.Name] || m.Doc == "" || m.Kind == "" {
			t.Errorf("%+v: a second one, or incomplete", m.Model)
		}
		seen[m.Name] = true
	}
	var names []string
	for _, s := range sentences {
		for _, pair := range s.models {
			names = append(names, pair[:]...)
		}
	}
	for _, f := range figures() {
		names = append(names, f.Model)
	}
	for _, name := range names {
		if !seen[name] && name != result.BestPeer {
			t.Errorf("no model is named %s", name)
		}
	}
}

// A case has the claims whose models it has.
func TestClaims(t *testing.T) {
	tab := &table{n: 1}
	c := tab.of("x", "", decoding{}, "csv", "direct", "stream.FromSeq")
	for except, want := range map[string]int{"": 3, formats: 2, boundary: 2} {
		if got := claims(c, true, except); len(got) != want || got[0].Case != c.Name {
			t.Errorf("without %q: got %+v, want %d", except, got, want)
		}
	}
}

// A lost or duplicated record is detected.
func TestWrongTallies(t *testing.T) {
	tab := small(t, 10)
	for name, again := range map[string]bool{"lost": false, "taken twice": true} {
		m := direct
		m.run = func(_ context.Context, next nextRecord, use consumer) (got tally, err error) {
			for r := range records(next, &err) {
				switch {
				case got.count < 9:
					got = use(got, r)
				case again:
					got = use(got, rating{User: 1})
				}
			}
			return got, err
		}
		if err := tab.at(decoding{binary: byField}, light, []model{m})[0].Run(&measure.Meter{N: 10}); err == nil {
			t.Errorf("%s: not found", name)
		}
	}
}

// Every model returns an error for a file that ends inside a record.
func TestTruncated(t *testing.T) {
	tab := small(t, 5000)
	for name, size := range map[string]int64{tab.binary: 5000*size - 3, tab.csv: 10_003} {
		if err := os.Truncate(name, size); err != nil {
			t.Fatal(err)
		}
	}
	for _, read := range []func(io.Reader) nextRecord{byField, reflected} {
		for _, m := range models() {
			if _, err := tab.scan(t.Context(), decoding{binary: read}, m, light); err == nil {
				t.Errorf("%s: no error", m.Name)
			}
		}
	}
}

// Models that watch the context end with it.
func TestCancelled(t *testing.T) {
	tab := small(t, 50_000)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	watching := models("channel-context-both", "channel-context-consumer", "stream.FromSeq", "stream.FromSeq-fused", "stream.Generate", "stream.Generate-fused",
		"stream.NextRecord", "stream.NextRecord-fused")
	for _, m := range watching {
		if _, err := tab.scan(ctx, decoding{binary: byField}, m, light); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want %v", m.Name, err, context.Canceled)
		}
		during, cancel := context.WithCancel(t.Context())
		_, err := tab.scan(during, decoding{binary: byField}, m, func(sum tally, r rating) tally {
			if sum.count == tab.n/2 {
				cancel()
			}
			return light(sum, r)
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled at half of the records: got %v, want %v", m.Name, err, context.Canceled)
		}
	}
	if _, err := write(ctx, t.TempDir(), "test", 10); !errors.Is(err, context.Canceled) {
		t.Errorf("writing a table: got %v, want %v", err, context.Canceled)
	}
}
