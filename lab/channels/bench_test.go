// Package channels measures the scan of a table of ratings in the ways of the article on channels: the consumer calls the
// reader, or a goroutine reads and sends records, one by one or in batches, or a stream reads.
//
//	go test -run none -bench 'Scan/way=(CSV|direct|channel-done)$' ./lab/channels -records 20000263
//
// An op is a scan of the whole table. The table was written just before, and so is in memory. The author's binary records
// took 408 ns to decode, longer than binary.Read takes today: with -decode=408ns the rest is computed.
package channels

import (
	"bytes"
	"flag"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/stint-go/stint/lab/bench"
)

var (
	records = flag.Int("records", 1_000_000, "records in the table; the article's has 20000263")
	decode  = flag.Duration("decode", 0, "time of a record of the binary file, and of CSV in the article's proportion; 0: as it is")
	consume = flag.Duration("consume", 0, "time that the consumer computes for a record")
)

func TestMain(m *testing.M) { bench.Main(m) }

// BenchmarkScan reads files.
func BenchmarkScan(b *testing.B) {
	formats, want := newTable(b)
	use := light
	if steps := bench.Steps(*consume); *consume > 0 {
		use = func(t tally, r rating) tally {
			runtime.KeepAlive(bench.Spin(steps))
			return light(t, r)
		}
	}
	for _, w := range ways() {
		measure(b, bench.Scheduled, "way="+w.name, want, func() tally { return formats[w.format].scan(w.run, use) })
	}
}

// BenchmarkHop passes records that take no time to read: what is left is the cost of passing them.
func BenchmarkHop(b *testing.B) {
	n := size()
	for _, w := range ways()[2:] { // without other formats
		measure(b, bench.Run, "passing="+w.name, tally{count: n, sum: int64(n)}, func() tally {
			left := n
			return w.run(func() (rating, bool) { left--; return rating{User: 1}, left >= 0 }, light)
		})
	}
}

// measure also reports the time of a record, which tables of any size have in common.
func measure(b *testing.B, run func(*testing.B, tally, func() tally, ...func(*testing.B)), name string, want tally, scan func() tally) {
	b.Run(name, func(b *testing.B) {
		run(b, want, scan)
		b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(want.count), "ns/record")
	})
}

// size returns the number of records that the flags ask for.
func size() int { return bench.Short(*records, 5000) }

// BenchmarkProfile reports which parts of the CPU time the runtime and reading the file take, from a CPU profile.
func BenchmarkProfile(b *testing.B) {
	formats, want := newTable(b)
	names := strings.Fields("CSV CSV/bytes=16 direct channel-done batches/records=1000 stream.Generate")
	for _, w := range append(ways(), way{"CSV/bytes=16", pull, "short"}) {
		if slices.Contains(names, w.name) {
			b.Run("way="+w.name, func(b *testing.B) {
				var out bytes.Buffer
				if err := pprof.StartCPUProfile(&out); err != nil {
					b.Skip("a profile of the whole program is made:", err)
				}
				bench.Run(b, want, func() tally { return formats[w.format].scan(w.run, light) }, func(b *testing.B) {
					pprof.StopCPUProfile()
					shares(b, bench.Must(profile.Parse(&out)))
				})
			})
		}
	}
}

// shares counts a sample for reading if a function of it reads a file, or else for the runtime if the innermost is there.
func shares(b *testing.B, p *profile.Profile) {
	runtime, reading, all := 0.0, 0.0, 1e-9 // a short scan has no sample
	for _, s := range p.Sample {
		n, names := float64(s.Value[0]), "" // of functions, the innermost first
		for _, l := range s.Location {
			for _, f := range l.Line {
				names += f.Function.Name + "\n"
			}
		}
		all += n
		if strings.Contains(names, "os.(*File).Read\n") {
			reading += n
		} else if strings.HasPrefix(names, "runtime.") || strings.HasPrefix(names, "internal/runtime/") {
			runtime += n
		}
	}
	b.ReportMetric(100*runtime/all, "runtime-%")
	b.ReportMetric(100*reading/all, "reading-%")
}
