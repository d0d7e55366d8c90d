package output

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/process"
	"github.com/stint-go/stint/cmd/stint/internal/spool"
)

// A bench is a printer with little room, and what it prints.
type bench struct {
	t *testing.T
	*Printer
	stdout, stderr bytes.Buffer
}

func newBench(t *testing.T, o Format, memory, files int) *bench {
	b := &bench{t: t}
	b.Printer = New(o, console.Streams{Stdout: &b.stdout, Stderr: &b.stderr}, console.New(&b.stderr), func(err error) { t.Error(err) })
	b.spool = spool.New(memory, files, t.TempDir(), func(error) {})
	return b
}

// job begins a job, which writes s, and returns it when it has done so or waits.
func (b *bench) job(position int64, whole bool, s string) *Job {
	j := &Job{Position: position, Whole: whole}
	b.Begin(j, true)
	b.write(j, s)
	return j
}

func (b *bench) write(j *Job, s string) {
	go func() { _, _ = io.WriteString(j.Stdout, s) }()
	synctest.Wait()
}

// end ends a job, and prints it unless it does not come yet.
func (b *bench) end(jobs ...*Job) {
	for _, j := range jobs {
		j.Ended(process.Result{Start: time.Now()})
		b.Ended(j)
		go b.Finish(j)
		synctest.Wait()
	}
}

func (b *bench) printed(want string) {
	b.t.Helper()
	synctest.Wait()
	if _ = b.out.Flush(); b.stdout.String() != want {
		b.t.Errorf("printed is %q, want %q", b.stdout.String(), want)
	}
}

// given wants that some of the jobs are given up, as there is no room for them.
func (b *bench) given(want string, jobs ...*Job) {
	b.t.Helper()
	var got []int64
	for _, j := range jobs {
		if errors.Is(j.abandoned, errNoRoom) {
			got = append(got, j.Position)
		}
	}
	if fmt.Sprint(got) != want {
		b.t.Errorf("given up are jobs %v, want %s", got, want)
	}
}

const (
	kept, streams = true, false // until the job has ended; or perhaps before

	zeros, ones = "0000000000000000", "1111111111111111" // half of the room
)

func TestPrinter(t *testing.T) {
	for name, test := range map[string]struct {
		o  Format
		do func(b *bench)
	}{
		"streams after a second": {do: func(b *bench) {
			first, second := b.job(0, streams, "0"), b.job(1, streams, "1")
			time.Sleep(streamDelay - 1)
			b.printed("")
			time.Sleep(time.Nanosecond)
			b.printed("0")
			b.write(first, "+")
			b.end(first)
			b.printed("0+1") // it has run for as long
			b.end(second)
		}},
		"kept while others go on": {o: Format{Unordered: true}, do: func(b *bench) {
			first, second, third := b.job(0, kept, zeros[1:]), b.job(1, kept, ones+"1"), b.job(2, kept, "2")
			b.write(first, "+")
			b.given("[]", first, second, third)
			b.write(second, "+") // the last one that went on, which has the most output, too
			b.given("[1]", first, second, third)
			b.end(second, third, first)
			b.printed("2" + zeros[1:] + "+")
		}},
		"again if nothing was printed": {do: func(b *bench) {
			j := b.job(0, streams, "")
			time.Sleep(streamDelay)
			b.printed("")
			if !b.Drop(j) {
				b.t.Error("it cannot be tried again, though it has printed nothing")
			}
			b.Begin(j, true)
			b.write(j, "0")
			if time.Sleep(streamDelay - 1); !b.Drop(j) {
				b.t.Error("it cannot be tried again, though it has not run for a second")
			}
			time.Sleep(time.Nanosecond) // when the timer of the first attempt would look
			b.Begin(j, true)
			b.write(j, "1")
			b.printed("")
			time.Sleep(streamDelay)
			b.printed("1")
			if b.Drop(j) {
				b.t.Error("it can be tried again, though it has printed something")
			}
			b.end(j)
		}},
		"from workers": {o: Format{NoWait: true}, do: func(b *bench) {
			first, second := &Job{Position: 0, Whole: true}, &Job{Position: 1, Whole: true}
			lost, own, late := b.Open(first), b.Open(first), b.Open(second)
			_, _ = io.WriteString(lost.Stdout, zeros)
			_, _ = io.WriteString(own.Stdout, zeros)
			b.Discard(lost)
			_, _ = io.WriteString(lost.Stdout, zeros) // of an attempt that goes on
			_, _ = io.WriteString(late.Stdout, ones+"+")
			b.given("[1]", first, second)
			first.Streams, second.Streams = own, late
			b.Finish(first)
			b.Finish(second)
			b.printed(zeros)
		}},
		"ends early": {do: func(b *bench) {
			first, second, third := b.job(0, streams, zeros), b.job(1, streams, ones+"+"), b.job(2, streams, "")
			b.given("[]", first, second, third)
			b.Abort()
			b.given("[1]", first, second, third)
			b.write(third, "2")
			time.Sleep(streamDelay)
			b.printed("")
			first.Interrupted = true
			b.Rest()
			b.printed("2")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, test.o, 2*len(zeros), 0)
				test.do(b)
				b.empty()
			})
		})
	}
}

// empty wants that nothing is left.
func (b *bench) empty() {
	b.t.Helper()
	if err := b.Close(); err != nil || len(b.jobs)+len(b.waiting) > 0 || b.owner != nil {
		b.t.Errorf("%v; %d jobs are left, %d wait, %v owns the output", err, len(b.jobs), len(b.waiting), b.owner)
	}
}

// run runs a job as an executor does, with random attempts, and returns what it should print.
func (b *bench) run(j *Job, r *rand.Rand, last int) string {
	for j.Attempts = 1; ; j.Attempts++ {
		b.Begin(j, j.Attempts > last)
		var text strings.Builder
		for range r.IntN(5) {
			if r.IntN(4) == 0 {
				time.Sleep(time.Duration(r.Int64N(int64(streamDelay))))
			}
			line := fmt.Sprintf("%d %s\n", j.Position, strings.Repeat(fmt.Sprint(j.Attempts), r.IntN(1<<r.IntN(13))))
			text.WriteString(line)
			for _, s := range []*Stream{j.Stdout, j.Stderr} {
				if n, err := io.WriteString(s, line); n != len(line) || err != nil {
					b.t.Errorf("%d of %d bytes, %v", n, len(line), err)
				}
			}
		}
		j.Ended(process.Result{Start: time.Now(), Exit: r.IntN(2)})
		if j.Exit == 0 || j.Final || j.Attempts > 2 || !b.Drop(j) {
			b.Ended(j)
			return text.String()
		}
	}
}

// TestPrinterRandom runs jobs with different rooms: what is printed is the last attempt of each job,
// in one piece, and in order. A job that may stream is never given up.
func TestPrinterRandom(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 0))
		o := Format{Unordered: seed%2 > 0}
		last, memory, files := r.IntN(3), []int{0, 100, 5000, 1 << 20}[r.IntN(4)], []int{0, 1, 100}[r.IntN(3)]
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, o, memory, files)
			const n = 60
			var texts [n]string
			jobs := func(yield func(*Job) bool) {
				for i := range int64(n) {
					if !yield(&Job{Position: i, Whole: seed%3 == 0}) {
						return
					}
				}
			}
			run := func(ctx context.Context, j *Job) (*Job, error) {
				texts[j.Position] = b.run(j, rand.New(rand.NewPCG(seed, uint64(1+j.Position))), last)
				return j, nil
			}
			opts := []stint.Option{stint.Limit(1 + r.IntN(6)), stint.Queue(n)}
			if o.Unordered {
				opts = append(opts, stint.Unordered())
			}
			want, lost := "", 0
			for j, err := range stint.MapSeq(t.Context(), jobs, run, opts...) {
				if b.Finish(j); j.Err == nil {
					want += texts[j.Position]
				} else if lost++; j.streams() || !errors.Is(j.Err, errNoRoom) || err != nil || memory+files > 1<<20 {
					t.Errorf("seed %d: job %d: %v, %v", seed, j.Position, j.Err, err)
				}
			}
			b.empty()
			if !o.Unordered && (b.stdout.String() != want || b.stderr.String() != want) {
				t.Errorf("seed %d: printed are %d and %d bytes, %d of them as written", seed, b.stdout.Len(), b.stderr.Len(), len(want))
			}
			for _, out := range []string{b.stdout.String(), b.stderr.String()} {
				if len(out) != len(want) {
					t.Errorf("seed %d: printed are %d bytes, want %d; %d jobs are given up", seed, len(out), len(want), lost)
				}
				for seen := [n]bool{}; len(out) > 0; { // a job in one piece, and the next one
					var i int
					if _, err := fmt.Sscan(out, &i); err != nil || seen[i] || !strings.HasPrefix(out, texts[i]) {
						t.Fatalf("seed %d: job %d is not printed as it was written, or twice: %v", seed, i, err)
					}
					seen[i], out = true, out[len(texts[i]):]
				}
			}
		})
	}
}
