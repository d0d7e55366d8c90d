package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

const header = "id,product,quantity\n"

// A table stores the orders of batches.
type table struct {
	orders  []order
	batches []int // sizes of the batches
}

func (t *table) Write(p []byte) (int, error) {
	before := len(t.orders)
	for d := json.NewDecoder(bytes.NewReader(p)); d.More(); {
		var o order
		if err := d.Decode(&o); err != nil {
			return 0, err
		}
		t.orders = append(t.orders, o)
	}
	t.batches = append(t.batches, len(t.orders)-before)
	return len(p), nil
}

// ids returns the ids of the orders in the order of insertion.
func (t *table) ids() []string {
	var ids []string
	for _, o := range t.orders {
		ids = append(ids, o.ID)
	}
	return ids
}

// A server knows the prices of fruit, and counts concurrent requests.
type server struct {
	takes func(product string) time.Duration

	mu            sync.Mutex
	running, peak int
}

func (s *server) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running += n
	s.peak = max(s.peak, s.running)
}

func (s *server) price(ctx context.Context, product string) (int, error) {
	s.count(+1)
	defer s.count(-1)
	if d := s.takes(product); d > 0 {
		select {
		case <-time.After(d):
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
	switch product {
	case "stone":
		return 0, errUnknown
	case "bomb":
		return 0, errBomb
	}
	return len(product), nil
}

var errBomb = errors.New("server down")

func TestBuiltIn(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if err := run(t.Context(), []string{"-batch", "3"}, nil, &stdout, &stderr); err != nil {
		t.Error(err)
	}
	const table = `{"line":2,"id":"1001","product":"apple","quantity":12,"cents":300}
{"line":3,"id":"1002","product":"pear","quantity":3,"cents":120}
{"line":4,"id":"1003","product":"plum","quantity":40,"cents":480}
{"line":7,"id":"1006","product":"pear","quantity":7,"cents":280}
{"line":9,"id":"1008","product":"apple","quantity":5,"cents":125}
{"line":12,"id":"1011","product":"plum","quantity":18,"cents":216}
{"line":13,"id":"1012","product":"apple","quantity":1,"cents":25}
{"line":15,"id":"1014","product":"pear","quantity":9,"cents":360}
`
	const complaints = `line 5: quantity "a dozen": want a number from 1 to 10000
line 6: product "quince": not for sale
line 8: quantity "0": want a number from 1 to 10000
line 10: wrong number of fields
line 11: bare " in non-quoted-field
line 14: product "medlar": not for sale
orders: 14 read, 8 inserted, 6 rejected, 0 dropped; batches: 3
`
	if stdout.String() != table || stderr.String() != complaints {
		t.Errorf("printed\n%s\nwant\n%s\ncomplained\n%s\nwant\n%s", &stdout, table, &stderr, complaints)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	in, bad := filepath.Join(dir, "in.csv"), filepath.Join(dir, "bad.txt")
	text := header + "1,apple,2\n2,pear,none\n"
	if err := os.WriteFile(in, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-rejects", bad, in}, {"-rejects", bad, "-"}} {
		var stdout, stderr bytes.Buffer
		if err := run(t.Context(), args, strings.NewReader(text), &stdout, &stderr); err != nil {
			t.Error(err)
		}
		rejects, err := os.ReadFile(bad)
		if want := "line 3: quantity \"none\": want a number from 1 to 10000\n"; err != nil || string(rejects) != want {
			t.Errorf("%q: rejected %q, %v, want %q", args, rejects, err, want)
		}
		if want := "{\"line\":2,\"id\":\"1\",\"product\":\"apple\",\"quantity\":2,\"cents\":50}\n"; stdout.String() != want {
			t.Errorf("%q: printed %q, want %q", args, &stdout, want)
		}
		if want := "orders: 2 read, 1 inserted, 1 rejected, 0 dropped; batches: 1\n"; stderr.String() != want {
			t.Errorf("%q: complained %q, want %q", args, &stderr, want)
		}
	}
}

func TestCommandLine(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing", "file")
	for _, test := range []struct {
		args   []string
		err    error
		stderr string // prefix
	}{
		{[]string{"-help"}, nil, "Usage of etl"},
		{[]string{"-limit", "0"}, errUsage, `invalid value "0" for flag -limit: want 1 or more`},
		{[]string{"-batch", "ten"}, errUsage, `invalid value "ten" for flag -batch: want 1 or more`},
		{[]string{"-fast"}, errUsage, "flag provided but not defined: -fast"},
		{[]string{"a", "b"}, errUsage, "more than one file"},
		{[]string{missing}, fs.ErrNotExist, ""},
		{[]string{"-rejects", missing}, fs.ErrNotExist, ""},
	} {
		var stdout, stderr bytes.Buffer
		err := run(t.Context(), test.args, nil, &stdout, &stderr)
		if !errors.Is(err, test.err) || !strings.HasPrefix(stderr.String(), test.stderr) || stdout.Len() > 0 {
			t.Errorf("%q: error %v, want %v; printed %q; complained %q, want %q", test.args, err, test.err, &stdout, &stderr, test.stderr)
		}
	}
}

// fast is a loader whose server answers at once.
func fast(table, rejects io.Writer) *loader {
	s := &server{takes: func(string) time.Duration { return 0 }}
	return &loader{table: table, rejects: rejects, batch: 3, price: s.price, server: stint.Limit(4)}
}

func TestRejects(t *testing.T) {
	for _, test := range []struct{ name, rows, ids, rejects string }{
		{"good", "1,apple,1\n2,pear,10000\n", "1 2", ""},
		{"none", "", "", ""},
		{"blank lines", "\n\n1,apple,1\n\n2,pear,x\n", "1", `line 6: quantity "x": want a number from 1 to 10000`},
		{"quantity", "1,apple,-1\n2,apple,10001\n3,apple,1.5\n4,apple,\n5,apple,5\n", "5", `line 2: quantity "-1": want a number from 1 to 10000
line 3: quantity "10001": want a number from 1 to 10000
line 4: quantity "1.5": want a number from 1 to 10000
line 5: quantity "": want a number from 1 to 10000`},
		{"fields", "1,apple\n2,apple,2\n3,apple,3,3\n", "2", "line 2: wrong number of fields\nline 4: wrong number of fields"},
		{"quotes", "1,\"apple\",1\n2,ap\"ple,1\n3,apple,1\n", "1 3", `line 3: bare " in non-quoted-field`},
		{"two lines", "1,\"app\nle\",1\n2,apple,x\n", "1", `line 4: quantity "x": want a number from 1 to 10000`},
		{"left open", "1,apple,1\n2,\"apple,1\n3,apple,1\n4,apple,1\n", "1", `line 3: extraneous or missing " in quoted-field, with all up to line 5`},
		{"unknown", "1,stone,1\n2,apple,1\n", "2", `line 2: product "stone": not for sale`},
	} {
		var table table
		var rejects bytes.Buffer
		l := fast(&table, &rejects)
		if err := l.load(t.Context(), strings.NewReader(header+test.rows)); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if got := strings.Join(table.ids(), " "); got != test.ids {
			t.Errorf("%s: inserted %q, want %q", test.name, got, test.ids)
		}
		if got := strings.TrimSuffix(rejects.String(), "\n"); got != test.rejects {
			t.Errorf("%s: rejected\n%s\nwant\n%s", test.name, got, test.rejects)
		}
		if l.read != l.inserted+l.rejected || l.inserted != len(table.orders) || l.rejected != strings.Count(rejects.String(), "\n") {
			t.Errorf("%s: %v", test.name, l)
		}
	}
}

// An error of the input as a whole ends the run.
func TestUnreadable(t *testing.T) {
	gone := errors.New("disk gone")
	for _, test := range []struct {
		name, text string
		inserted   int
		err        string
	}{
		{"empty", "", 0, "first line: EOF"},
		{"columns", "id,product\n1,apple\n", 0, `first line: columns ["id" "product"], want ["id" "product" "quantity"]`},
		{"quotes", "id,\"product\n", 0, `first line: parse error on line 1, column 13: extraneous or missing " in quoted-field`},
		{"at once", "", 0, "first line: disk gone"},
		{"later", header + "1,apple,1\n2,apple,2\n3,apple,3\n4,apple,4\n", 4, "disk gone"},
	} {
		in := io.Reader(strings.NewReader(test.text))
		if strings.Contains(test.err, gone.Error()) {
			in = io.MultiReader(in, broken{gone})
		}
		var table table
		l := fast(&table, io.Discard)
		if err := l.load(t.Context(), in); err == nil || err.Error() != test.err {
			t.Errorf("%s: error %v, want %v", test.name, err, test.err)
		}
		if len(table.orders) != test.inserted {
			t.Errorf("%s: %d inserted, want %d", test.name, len(table.orders), test.inserted)
		}
	}
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error)  { return 0, b.err }
func (b broken) Write([]byte) (int, error) { return 0, b.err }

// Each order is inserted or rejected, once and in order, in full batches, and
// lookups keep the limit.
func TestEveryOrder(t *testing.T) {
	for _, limit := range []int{1, 2, 9} {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, uint64(limit)))
			text, good := header, []string{}
			var bad []string // prefixes of their errors
			for i := range 1000 {
				id, line := fmt.Sprint("id", i), fmt.Sprintf("line %d: ", i+2)
				switch random.IntN(6) {
				case 0:
					text += id + ",apple,none\n"
					bad = append(bad, line+"quantity")
				case 1:
					text += id + ",stone,7\n"
					bad = append(bad, line+"product")
				case 2:
					text += id + "\n"
					bad = append(bad, line+"wrong")
				default:
					text += id + ",apple,7\n"
					good = append(good, id)
				}
			}

			var table table
			var rejects bytes.Buffer
			var asked atomic.Int64
			s := &server{takes: func(string) time.Duration { return time.Duration(1+asked.Add(1)%7) * time.Millisecond }}
			l := &loader{table: &table, rejects: &rejects, batch: 10, price: s.price, server: stint.Limit(limit)}
			if err := l.load(t.Context(), strings.NewReader(text)); err != nil {
				t.Error(err)
			}

			if got := table.ids(); !slices.Equal(got, good) {
				t.Errorf("inserted %d orders: %q, want %d: %q", len(got), got, len(good), good)
			}
			lines := strings.Split(strings.TrimSpace(rejects.String()), "\n")
			if !slices.EqualFunc(lines, bad, strings.HasPrefix) {
				t.Errorf("rejected %q, want %q", lines, bad)
			}
			want := slices.Repeat([]int{10}, len(good)/10)
			if rest := len(good) % 10; rest > 0 {
				want = append(want, rest)
			}
			if !slices.Equal(table.batches, want) {
				t.Errorf("batches of %d, want %d", table.batches, want)
			}
			if l.read != 1000 || l.inserted != len(good) || l.rejected != len(bad) || l.batches != len(want) {
				t.Errorf("counted %v, want %d inserted, %d rejected, %d batches", l, len(good), len(bad), len(want))
			}
			if s.peak != limit {
				t.Errorf("%d lookups at once under a limit of %d", s.peak, limit)
			}
		})
	}
}

// When the input pauses, the pending orders are inserted.
func TestSlowInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, w := io.Pipe()
		var table table
		l := fast(&table, io.Discard)
		go func() {
			fmt.Fprint(w, header, "1,apple,1\n2,apple,2\n3,apple,3\n4,apple,4\n5,apple,5\n")
			time.Sleep(time.Hour)
			fmt.Fprint(w, "6,apple,6\n")
			w.Close()
		}()
		if err := l.load(t.Context(), in); err != nil {
			t.Error(err)
		}
		if want := []int{3, 2, 1}; !slices.Equal(table.batches, want) {
			t.Errorf("batches of %d, want %d", table.batches, want)
		}
	})
}

// An error of the server ends the run after the orders before it, although
// others are looked up concurrently.
func TestServerFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var table table
		l := fast(&table, io.Discard)
		s := &server{takes: func(product string) time.Duration {
			if product == "bomb" {
				return time.Millisecond
			}
			return time.Second
		}}
		l.price = s.price
		text := header + "1,apple,1\n2,apple,2\n3,apple,3\n4,apple,4\n5,bomb,5\n" + strings.Repeat("6,apple,6\n", 100)
		err := l.load(t.Context(), strings.NewReader(text))
		if !errors.Is(err, errBomb) || err.Error() != "line 6: price of bomb: server down" {
			t.Error(err)
		}
		if got, want := table.ids(), []string{"1", "2", "3", "4"}; !slices.Equal(got, want) {
			t.Errorf("inserted %q, want %q", got, want)
		}
		if s.running != 0 {
			t.Errorf("%d lookups run after the end", s.running)
		}
	})
}

// rowsForEver is an endless input.
type rowsForEver struct{ header bool }

func (r *rowsForEver) Read(p []byte) (int, error) {
	if !r.header {
		r.header = true
		return copy(p, header), nil
	}
	return copy(p, "1,apple,1\n"), nil
}

func TestInterrupt(t *testing.T) {
	for _, limit := range []*stint.Limiter{stint.Limit(1), stint.Limit(4)} {
		synctest.Test(t, func(t *testing.T) {
			interrupt := errors.New("interrupt")
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(interrupt) })
			var table table
			s := &server{takes: func(string) time.Duration { return 10 * time.Millisecond }}
			l := &loader{table: &table, rejects: io.Discard, batch: 10, price: s.price, server: limit}
			if err := l.load(ctx, &rowsForEver{}); err != interrupt {
				t.Errorf("error %v, want %v", err, interrupt)
			}
			if l.inserted == 0 || l.inserted != len(table.orders) || l.inserted != 10*l.batches {
				t.Errorf("%d inserted in batches of %d: %v", len(table.orders), table.batches, l)
			}
			if s.running != 0 {
				t.Errorf("%d lookups run after the end", s.running)
			}
		})
	}
}

// A writer's error ends the run, and the input has been read ahead only as far
// as the stages' buffers allow.
func TestUnwritable(t *testing.T) {
	full := errors.New("disk full")
	for _, l := range []*loader{fast(broken{full}, io.Discard), fast(io.Discard, broken{full})} {
		in := io.MultiReader(strings.NewReader(header+"1,apple,1\n2,apple,none\n"), strings.NewReader(strings.Repeat("3,apple,1\n", 1_000_000)))
		if err := l.load(t.Context(), in); err != full {
			t.Errorf("error %v, want %v", err, full)
		}
		if l.read > 10_000 || l.rejected+l.inserted > 1 {
			t.Error(l)
		}
	}
}
