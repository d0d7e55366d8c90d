package channels

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stint-go/stint/lab/bench"
	"github.com/stint-go/stint/stream"
)

// A rating is a record. Its fields are exported for binary.Read.
type rating struct {
	User, Movie int32
	Value       float32 // whole and half stars
	Time        int64
}

// A tally is the result of a scan: the number of records and the sum of their fields.
type tally struct {
	count int
	sum   int64
}

// light adds a record to a tally. It is a variable so that no loop inlines it.
var light consumer = func(t tally, r rating) tally {
	return tally{t.count + 1, t.sum + int64(r.User) + int64(r.Movie) + int64(2*r.Value) + r.Time}
}

// A format is how the records of a file are read.
type format struct {
	file   string
	read   func(io.Reader) func() (rating, error)
	theirs float64 // the article's time of a record in ns, if it has one
	steps  int     // of bench.Spin for a record, beside reading it
}

// newTable writes a table, always the same, to two files, and returns what ways read and the result of a scan.
func newTable(b *testing.B) (formats map[string]*format, want tally) {
	n, file := size(), filepath.Join(b.TempDir(), "ratings")
	formats = map[string]*format{
		"":        {file: file, read: reflected, theirs: 408},
		"by-hand": {file: file, read: fields},
		"csv":     {file: file + ".csv", read: lines, theirs: 784.9},
		"short":   {file: file + ".csv", read: func(in io.Reader) func() (rating, error) { return lines(shortReader{in}) }},
	}
	bin, text := bench.Must(os.Create(file)), bench.Must(os.Create(file+".csv"))
	toBin, toText := bufio.NewWriter(bin), bufio.NewWriter(text)
	random := rand.New(rand.NewPCG(13, 14))
	for i := range n {
		r := rating{1 + int32(i/144), 1 + random.Int32N(131_262), float32(1+random.IntN(10)) / 2, 789_652_009 + random.Int64N(638_131_993)}
		want = light(want, r)
		_ = binary.Write(toBin, binary.LittleEndian, r) // a bufio.Writer keeps its error for Flush
		fmt.Fprintf(toText, "%d,%d,%.1f,%d\n", r.User, r.Movie, r.Value, r.Time)
	}
	// Synced, files are not written back while measuring.
	bench.Check(errors.Join(toBin.Flush(), toText.Flush(), bin.Sync(), text.Sync(), bin.Close(), text.Close()))
	for _, f := range formats {
		if *decode > 0 && f.theirs > 0 {
			f.take(time.Duration(float64(*decode)*f.theirs/408), n)
		}
	}
	return formats, want
}

// take makes the median scan of n records take a time a record, if that is more than reading takes.
func (f *format) take(record time.Duration, n int) {
	for range 3 {
		var tries [5]time.Duration
		for i := range tries {
			began := time.Now()
			f.scan(pull, light)
			tries[i] = time.Since(began) / time.Duration(n)
		}
		slices.Sort(tries[:])
		missing := float64(record-tries[2]) / float64(time.Second)
		f.steps = max(0, f.steps+int(missing*float64(bench.Steps(time.Second))))
	}
}

// scan passes the records of the file to a consumer.
func (f format) scan(run pass, use consumer) tally {
	file := bench.Must(os.Open(f.file))
	defer file.Close()
	read := f.read(file)
	return run(func() (rating, bool) {
		if f.steps > 0 {
			runtime.KeepAlive(bench.Spin(f.steps))
		}
		r, err := read()
		if err != io.EOF {
			bench.Check(err)
		}
		return r, err == nil
	}, use)
}

// reflected decodes with binary.Read.
func reflected(in io.Reader) func() (rating, error) {
	in = bufio.NewReaderSize(in, 64<<10)
	return func() (r rating, err error) {
		err = binary.Read(in, binary.LittleEndian, &r)
		return r, err
	}
}

// fields decodes field by field.
func fields(in io.Reader) func() (rating, error) {
	in = bufio.NewReaderSize(in, 64<<10)
	b, u32 := make([]byte, 20), binary.LittleEndian.Uint32
	return func() (rating, error) {
		_, err := io.ReadFull(in, b)
		return rating{int32(u32(b)), int32(u32(b[4:])), math.Float32frombits(u32(b[8:])), int64(binary.LittleEndian.Uint64(b[12:]))}, err
	}
}

// lines decodes lines of CSV.
func lines(in io.Reader) func() (rating, error) {
	c := csv.NewReader(bufio.NewReaderSize(in, 64<<10))
	c.ReuseRecord, c.FieldsPerRecord = true, 4
	return func() (rating, error) {
		line, err := c.Read()
		if err != nil {
			return rating{}, err
		}
		user, err1 := strconv.ParseInt(line[0], 10, 32)
		movie, err2 := strconv.ParseInt(line[1], 10, 32)
		value, err3 := strconv.ParseFloat(line[2], 32)
		time, err4 := strconv.ParseInt(line[3], 10, 64)
		return rating{int32(user), int32(movie), float32(value), time}, errors.Join(err1, err2, err3, err4)
	}
}

// A shortReader reads 16 bytes by a system call.
type shortReader struct{ io.Reader }

func (r shortReader) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), 16)]) }

type (
	// A nextRecord is the method of a scanner. It returns false after the last record.
	nextRecord func() (rating, bool)
	// A consumer adds a record to a tally.
	consumer func(tally, rating) tally
	// A pass passes the records of a scanner to a consumer.
	pass func(next nextRecord, use consumer) tally
	// A way is a pass with the name it has in results.
	way struct {
		name   string
		run    pass
		format string // of what it reads; "": with binary.Read
	}
	// An item is records. As in the article it is sent by pointer.
	item struct {
		one     [1]rating // the memory of a single record
		records []rating
		last    bool
	}
	// A guard returns what a goroutine sends or receives with, in a select beside something else.
	guard func(ctx context.Context) end
	end   struct {
		send    func(chan<- *item, *item) bool
		receive func(<-chan *item) (*item, bool)
	}
)

// ways returns all. The article ends with direct: the consumer calls NextRecord.
func ways() []way {
	all := []way{
		{"CSV", pull, "csv"},
		{"direct/decoded=by-hand", pull, "by-hand"},
		{"direct", pull, ""},
		{"channel", channel(0, 0, none, none), ""},
		{"channel/buffer=1000", channel(1000, 0, none, none), ""},
		{"channel-done", channel(0, 0, done, none), ""},
		{"channel-done/buffer=1", channel(1, 0, done, none), ""},
		{"channel-done/buffer=1000", channel(1000, 0, done, none), ""},
		{"stream.Generate", generate(0), ""},
		{"stream.Generate/with=Buffer", generate(1000), ""},
	}
	for n := 1; n <= 100_000; n *= 10 {
		all = append(all, way{fmt.Sprintf("batches/records=%d", n), channel(0, n, done, none), ""})
	}
	for name, g := range guards {
		all = append(all, way{name + "/at=producer", channel(0, 0, g, none), ""}, way{name + "/at=consumer", channel(0, 0, none, g), ""})
	}
	return all
}

func pull(next nextRecord, use consumer) (t tally) {
	for r, ok := next(); ok; r, ok = next() {
		t = use(t, r)
	}
	return t
}

// generate returns a stream that reads where the consumer is, or on a goroutine before a buffer.
func generate(buffer int) pass {
	return func(next nextRecord, use consumer) tally {
		s := stream.Generate(func(_ context.Context, emit func(rating) bool) error {
			for r, ok := next(); ok && emit(r); r, ok = next() {
			}
			return nil
		})
		if buffer > 0 {
			s = stream.Buffer(s, buffer)
		}
		return bench.Must(stream.Reduce(context.Background(), s, tally{}, use))
	}
}

// channel returns the pass of a goroutine that reads and sends items of batch records, or of single ones if batch is 0.
func channel(buffer, batch int, producer, consuming guard) pass {
	return func(next nextRecord, use consumer) (t tally) {
		ctx, cancel := context.WithCancel(context.Background()) // for one that cannot be cancelled, a select is less work
		defer cancel()
		c := make(chan *item, buffer)
		go func() {
			defer close(c)
			out := producer(ctx)
			for i := read(next, batch); out.send(c, i) && !i.last; i = read(next, batch) {
			}
		}()
		in := consuming(ctx)
		for i, ok := in.receive(c); ok; i, ok = in.receive(c) {
			for _, r := range i.records {
				t = use(t, r)
			}
		}
		return t
	}
}

func read(next nextRecord, batch int) *item {
	i := new(item)
	i.records = i.one[:0]
	if batch > 0 {
		i.records = make([]rating, 0, batch)
	}
	for !i.last && len(i.records) < cap(i.records) {
		if r, ok := next(); ok {
			i.records = append(i.records, r)
		} else {
			i.last = true
		}
	}
	return i
}

const limit = time.Hour // a timeout that does not come

// none needs no select.
func none(context.Context) end {
	return end{func(c chan<- *item, i *item) bool { c <- i; return true },
		func(c <-chan *item) (*item, bool) { i, ok := <-c; return i, ok }}
}

// done waits for a channel that is closed when the scan ends.
func done(ctx context.Context) end {
	over := make(chan struct{})
	context.AfterFunc(ctx, func() { close(over) })
	return either(func() <-chan struct{} { return over })
}

// guards wait for the context of the scan or for timeouts: one of the scan, or one of each record.
var guards = map[string]guard{
	"context": func(ctx context.Context) end { return either(ctx.Done) },
	"timeout": func(parent context.Context) end {
		ctx, cancel := context.WithTimeout(parent, limit)
		context.AfterFunc(ctx, cancel)
		return either(ctx.Done)
	},
	"context-a-record": func(parent context.Context) end {
		ctx, cancel := context.WithCancel(parent)
		return either(func() <-chan struct{} {
			cancel() // that of the record before
			ctx, cancel = context.WithTimeout(parent, limit)
			return ctx.Done()
		})
	},
	"time.After": func(context.Context) end { return either(func() <-chan time.Time { return time.After(limit) }) },
	"timer": func(context.Context) end {
		t := time.NewTimer(limit)
		return either(func() <-chan time.Time { t.Reset(limit); return t.C })
	},
}

// either returns an end that also waits for the channel that stop returns for a record.
func either[E any](stop func() <-chan E) end {
	return end{func(c chan<- *item, i *item) bool {
		select {
		case c <- i:
			return true
		case <-stop():
			return false
		}
	}, func(c <-chan *item) (i *item, ok bool) {
		select {
		case i, ok = <-c:
		case <-stop():
		}
		return i, ok
	}}
}
