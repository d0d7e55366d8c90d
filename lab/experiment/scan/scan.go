// Package scan measures a scan of a large table: records are read, decoded and passed
// to a consumer that counts and adds. The consumer calls the reader, or receives from a
// channel, in batches, or from a stream. The tables are written before measuring, so
// that they are in memory, which must be large enough.
package scan

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/load"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment scan.
var Experiment = experiment.New("scan", fmt.Sprintf("scanning %d records: directly, over channels, in batches, through streams", ratings),
	sizes{large: ratings, small: 1_000_000}, sizes{large: 200_000, small: 20_000}, run)

// sizes are the numbers of records of two tables.
type sizes struct{ large, small int }

// ratings is the number of records of the article's table.
const ratings = 20_000_263

// The article's times of a record: 8.2 s and 15.7 s for its table.
const (
	binaryCost = 410 * time.Nanosecond
	csvCost    = 785 * time.Nanosecond
)

// run writes the tables and measures.
func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	return s.InFolder("scan", func(dir string) (*result.Result, error) {
		b := s.NewBench("scan", fmt.Sprintf("tables of %d and of %d records, of two int32, a float32 and an int64, as CSV and as 20 bytes each", z.large, z.small),
			"An op is a record that is read, decoded and passed to the consumer, which counts and adds. Counts and sums of all models are checked.",
			fmt.Sprintf("The author's times are for %d records: 27.0 s is 1,350 ns a record, 8.2 s is 410, and 15.7 s is 785.", ratings),
			"binary.Read decodes by reflection. With decode=400ns a record takes as long as the author's, 410 ns from the binary file and 785 from CSV: "+
				"the rest is computing. How the two files compare is then given, so it is claimed of the other cases only.",
			"The goroutines send pointers to a record and an error, as the article's; models named -values send records. The batches have the select with done.")
		s.Logf("scan: writing %d and %d records", z.large, z.small)
		large, err1 := write(ctx, dir, "large", z.large)
		small, err2 := write(ctx, dir, "small", z.small)
		slow, err3 := small.slow(ctx)
		if err := errors.Join(err1, err2, err3); err != nil {
			return b.Conclude(err)
		}
		s.Logf("scan: decode=400ns computes %d steps for a binary record, and %d for a line", slow.binarySteps, slow.csvSteps)
		return b.Run(ctx, small.every(b, slow), small.reflected(b), large.fast(b), small.busy(b, slow))
	})
}

// of returns a case of the article.
func (t *table) of(setting, doc string, d decoding, names ...string) experiment.Case {
	return experiment.Case{
		Name: fmt.Sprintf("records=%d/%s", t.n, setting), Doc: doc, Reference: direct.Name, Ops: t.n, Count: 6, Models: t.at(d, light, models(names...)),
		Article: result.Channels, Table: "times of a scan",
	}
}

// every compares all models, with records that cost what the author's did.
func (t *table) every(b *experiment.Bench, slow decoding) experiment.Study {
	c := t.of("decode=400ns", "an op is a record, which takes 410 ns to decode, or 785 from CSV", slow)
	c.Main, c.Figures = true, figures()
	return b.OnBoth(c, func(on experiment.Names) []result.Claim {
		return on.Each(func(kase string) []result.Claim {
			c.Name = kase
			return claims(c, kase == on.All, formats) // the cost of a line is chosen here
		})
	})
}

// reflected compares models with the article's decoder, which is faster today.
func (t *table) reflected(b *experiment.Bench) experiment.Study {
	c := t.of("decode=binary.Read", "an op is a record, decoded with binary.Read", decoding{binary: reflected}, "csv", "direct", "channel", "channel-1000",
		"channel-done", "channel-done-1", "channel-done-1000", "channel-context-producer", "channel-context-consumer", "channel-context-both", "batches-1000",
		"batches-100000", "channel-values", "stream.FromSeq-fused", "stream.FromSeq", "stream.Generate-fused", "stream.Generate", "stream.NextRecord-fused")
	c.Figures = figures()
	return b.OnBoth(c, func(on experiment.Names) []result.Claim {
		return on.Each(func(kase string) []result.Claim {
			c.Name = kase
			return claims(c, kase == on.All)
		})
	})
}

// fast measures the large table, decoded field by field.
func (t *table) fast(b *experiment.Bench) experiment.Study {
	c := t.of("table=large", "an op is a record, decoded field by field", decoding{binary: byField}, "csv", "direct", "channel", "channel-1000",
		"batches-1000", "channel-values", "channel-1000-values", "stream.FromSeq-fused", "stream.FromSeq", "stream.Generate-fused", "stream.Generate")
	ours := slices.DeleteFunc(claims(c, b.Result.Processors > 1), func(claim result.Claim) bool { return claim.Article != "" }) // the article has no such decoder
	return experiment.One(c, ours...)
}

// busy measures records that take as long to consume as to decode.
func (t *table) busy(b *experiment.Bench, slow decoding) experiment.Study {
	steps := load.Steps(binaryCost)
	c := t.of("decode=400ns/consumer=400ns", "an op is a record that takes 410 ns to decode, and as long to consume", slow)
	c.Article, c.Table = "", ""
	c.Models = t.at(slow, func(sum tally, r rating) tally {
		runtime.KeepAlive(load.Spin(steps))
		return light(sum, r)
	}, models("direct", "channel", "channel-1000", "batches-1000", "stream.FromSeq", "stream.Generate"))
	st := experiment.One(c)
	for _, name := range []string{"stream.FromSeq", "stream.Generate"} {
		if b.Result.Processors > 1 {
			st.Claims = append(st.Claims, experiment.AtMost(1, c.Name, name, direct.Name, overlap))
		}
	}
	return st
}
