package scan

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, run, 4000, trial.Want{Processors: 1, Cases: 6, Verdicts: 15}, trial.Want{Processors: 2, Cases: 7, Verdicts: 24})
}

// table returns a table of n records.
func small(t *testing.T, n int) *table {
	t.Helper()
	tab, err := write(t.Context(), t.TempDir(), "test", n)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// Every model passes on every record, in each run, for any number of records
// relative to blocks and batches.
func TestModels(t *testing.T) {
	const block = blockSize / size
	for _, n := range []int{1, 2, 999, 1000, 1001, block - 1, block, block + 1, 2*block + 7} {
		for _, m := range small(t, n).models(light, allModels()...) {
			if err := m.Run(&measure.Meter{N: 2 * n}); err != nil {
				t.Errorf("%d records: %s: %v", n, m.Name, err)
			}
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range allModels() {
		if seen[m.Name] || m.Doc == "" || m.Kind == "" {
			t.Errorf("%+v: a second one, or incomplete", m.Model)
		}
		seen[m.Name] = true
	}
}

// A lost or duplicated record is detected.
func TestWrongTallies(t *testing.T) {
	tab := small(t, 10)
	for name, again := range map[string]bool{"lost": false, "taken twice": true} {
		m := direct()
		m.scan = func(ctx context.Context, in input, use consumer) (tally, error) {
			var got tally
			err := in.each(func(r rating) bool {
				switch {
				case got.count < 9:
					got = use(got, r)
				case again:
					got = use(got, rating{User: 1})
				}
				return true
			})
			return got, err
		}
		if err := tab.models(light, m)[0].Run(&measure.Meter{N: 10}); err == nil {
			t.Errorf("%s: not found", name)
		}
	}
}

// Every model returns an error for a table that ends inside a record. A
// truncated line of CSV may be valid.
func TestTruncated(t *testing.T) {
	tab := small(t, 5000)
	if err := os.Truncate(tab.binary, 5000*size-3); err != nil {
		t.Fatal(err)
	}
	for _, m := range allModels() {
		if _, err := tab.scan(t.Context(), m, light); err == nil && !m.text {
			t.Errorf("%s: no error", m.Name)
		}
	}
}

// Models that watch the context end with it.
func TestCancelled(t *testing.T) {
	tab := small(t, 50_000)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, m := range []model{contextBoth(), generate(), seq(), generateFused(), blocksStream(), tallies(), parTallies()} {
		if _, err := tab.scan(ctx, m, light); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want %v", m.Name, err, context.Canceled)
		}
	}
	if _, err := write(ctx, t.TempDir(), "test", 10); !errors.Is(err, context.Canceled) {
		t.Errorf("writing a table: got %v, want %v", err, context.Canceled)
	}
}

// The records are always the same, in both files, and a smaller table is the
// start of a larger one.
func TestTables(t *testing.T) {
	few, many := small(t, 100), small(t, 200)
	for _, read := range []struct {
		name func(*table) string
		read reader
	}{{func(t *table) string { return t.binary }, readBinary}, {func(t *table) string { return t.binary }, readReflected}, {func(t *table) string { return t.csv }, readCSV}} {
		a, b := contents(t, read.name(few)), contents(t, read.name(many))
		if !bytes.HasPrefix(b, a) {
			t.Error("the smaller table is not the beginning of the larger")
		}
		next, n := random(), 0
		err := read.read(bytes.NewReader(b), func(r rating) bool {
			if want := next(); r != want {
				t.Errorf("record %d is %v, want %v", n, r, want)
			}
			n++
			return true
		})
		if n != 200 || err != nil {
			t.Errorf("%d records, %v", n, err)
		}
	}
}

func contents(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Readers stop when asked to, and report a wrong line.
func TestReaders(t *testing.T) {
	tab := small(t, 100)
	wanted := 0
	enough := func(rating) bool { wanted--; return wanted > 0 }
	for name, read := range map[string]reader{tab.binary: readBinary, tab.csv: readCSV} {
		wanted = 10
		if err := read(bytes.NewReader(contents(t, name)), enough); err != nil || wanted != 0 {
			t.Errorf("%s: %v, %d more than wanted", name, err, -wanted)
		}
	}
	for _, text := range []string{"1,2,3.5\n", "1,2,x,4\n", "3000000000,2,3.5,4\n"} {
		if err := readCSV(bytes.NewReader([]byte(text)), enough); err == nil {
			t.Errorf("%q gives no error", text)
		}
	}
	var got []rating
	block := contents(t, tab.binary)
	for r := range decoded(block) {
		if got = append(got, r); len(got) == 3 {
			break
		}
	}
	if next := random(); !slices.Equal(got, []rating{next(), next(), next()}) {
		t.Errorf("a block begins with %v", got)
	}
}

// The heavy consumer computes, and its sum is the table's.
func TestHeavy(t *testing.T) {
	w, err := costly(small(t, 2000))
	if err != nil || w.steps < 1 || w.want.count != 2000 {
		t.Fatalf("%d steps, %+v, %v", w.steps, w.want, err)
	}
	for _, m := range w.models(w.consumer, direct(), generate()) {
		if err := m.Run(&measure.Meter{N: 2000}); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
	if one, two := hash(rating{User: 1}, 5), hash(rating{User: 2}, 5); one == two || one != hash(rating{User: 1}, 5) {
		t.Error("the hash is not that of the record")
	}
}
