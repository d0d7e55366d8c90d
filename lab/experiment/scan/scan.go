// Package scan measures a scan of a large table: records are read, decoded and
// passed to a consumer that counts and adds. The consumer is called directly,
// or receives from a channel, in hand-written batches, or from a stream
// boundary. The tables are written before measuring, so that they are in
// memory, which must be large enough.
package scan

import (
	"context"
	"fmt"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment scan.
var Experiment = experiment.New("scan", fmt.Sprintf("scanning %d records: directly, over channels, in batches, through streams", ratings),
	ratings, ratings/50, run)

// ratings is the number of records of the article's table.
const ratings = 20_000_263

// smallFactor is how many times smaller the table of the slow models is.
const smallFactor = 20

// Samples. A slow model takes seconds for one.
const (
	fewSamples = 6
	samples    = 12
)

// run measures a table of n records and a smaller one.
func run(ctx context.Context, s *experiment.Session, n int) (*result.Result, error) {
	return s.InFolder("scan", func(dir string) (*result.Result, error) { return runIn(ctx, s, dir, n) })
}

// runIn writes the tables into dir and measures.
func runIn(ctx context.Context, s *experiment.Session, dir string, n int) (*result.Result, error) {
	few := max(1, n/smallFactor)
	b := s.NewBench("scan", fmt.Sprintf("tables of %d and of %d records, of two int32, a float32 and an int64, as CSV and as 20 bytes each", n, few),
		"An op is a record that is read, decoded and passed to the consumer, which counts and adds. Counts and sums of all models are checked.",
		"The slow models are in the cases with the small table only, which is the beginning of the large one.",
		"The models read with the same function, except those named blocks, which read and decode 64 KB at a time.",
		"The article's figures, in s: csv 15.7, direct 8.2, channel 27.0, channel-1 23.5, channel-1000 17.4, with a select on a context 58 to 59, channel-done 19.9 and with a buffer 14.3, batches-1 to batches-100000 28.8, 12.4, 8.9, 8.7, 8.7, 9.3.")
	s.Logf("scan: writing %d and %d records", n, few)
	large, err := write(ctx, dir, "large", n)
	if err != nil {
		return b.Conclude(err)
	}
	small, err := write(ctx, dir, "small", few)
	if err != nil {
		return b.Conclude(err)
	}
	heavy, err := costly(small)
	if err != nil {
		return b.Conclude(err)
	}
	slow := small.reflecting()
	slowHeavy, err := costly(slow)
	if err != nil {
		return b.Conclude(err)
	}
	s.Logf("scan: the heavy consumers compute %d and %d steps a record", heavy.steps, slowHeavy.steps)
	return b.Run(ctx, b.OnBoth(small.sweep(), articles), large.whole(), heavy.study(b), slow.reflected(), slowHeavy.reflected(b), small.cancelled())
}

// sweep compares all models.
func (t *table) sweep() experiment.Case {
	return experiment.Case{
		Name: fmt.Sprintf("records=%d", t.n), Doc: "an op is a record", Reference: nameDirect, Ops: t.n, Count: fewSamples, Main: true,
		Models: t.models(light, allModels()...),
	}
}

// The conclusions of the main article, and ours.
const (
	channelHurts = "A channel operation per record makes the binary scan slower than that of CSV."
	selectHurts  = "A select with a context doubles the time of that channel."
	batchHelps   = "Batches of 1,000 records restore the time without a channel."
	overlaps     = "Where both take time, a boundary of a stream makes the scan faster on two processors: reading and consuming overlap."
	endable      = "A scan across a boundary of a stream can be cancelled, at no cost per record."
)

// articles returns the article's claims.
func articles(on experiment.Names) []result.Claim {
	var out []result.Claim
	for _, kase := range on.Both() {
		out = append(out,
			experiment.AtMost(1, kase, nameCSV, nameChannel, channelHurts),
			experiment.AtMost(0.5, kase, nameChannel, nameContextBoth, selectHurts),
			experiment.AtMost(1.1, kase, nameBatches, nameDirect, batchHelps))
	}
	return out
}

// bufferedStreams have a boundary and read as the direct loop does.
var bufferedStreams = []string{nameGenerate, nameSeq}

// whole measures the large table, without the slowest models.
func (t *table) whole() experiment.Study {
	c := experiment.Case{
		Name: fmt.Sprintf("records=%d/table=large", t.n), Doc: "an op is a record", Reference: nameDirect, Ops: t.n, Count: fewSamples,
		Models: t.models(light, lines(), direct(), blocks(), channel(0), channel(1000), batches(1000), generateFused(), seqFused(), generate(), seq(), blocksStream(), tallies(), parTallies()),
	}
	st := experiment.One(c,
		experiment.AtMost(1, c.Name, nameCSV, nameChannel, channelHurts),
		experiment.AtMost(1.1, c.Name, nameBatches, nameDirect, batchHelps),
		notSlower(c.Name, nameBlocksStream, nameBlocks), // these read in the same way
		notSlower(c.Name, nameTallies, nameBlocks))
	for _, name := range bufferedStreams {
		st.Claims = append(st.Claims, notSlower(c.Name, name, nameDirect))
	}
	return st
}

// reflecting returns the table with binary.Read as decoder. A record then takes
// tens of ns instead of ten; in the article it takes hundreds.
func (t *table) reflecting() *table {
	slow := *t
	slow.read = readReflected
	return &slow
}

// reflected measures these records with the light consumer.
func (t *table) reflected() experiment.Study {
	c := experiment.Case{
		Name: fmt.Sprintf("records=%d/decode=binary.Read", t.n), Doc: "an op is a record, decoded with binary.Read in all models but csv", Reference: nameDirect, Ops: t.n, Count: samples,
		Models: t.models(light, lines(), direct(), channel(0), contextBoth(), batches(1000), generateFused(), generate(), seq()),
	}
	st := experiment.One(c, articles(experiment.Names{One: c.Name})...)
	for _, name := range bufferedStreams {
		st.Claims = append(st.Claims, notSlower(c.Name, name, nameDirect))
	}
	return st
}

// notSlower claims that a boundary costs nothing: concurrent reading and
// consuming make up for it.
func notSlower(kase, model, than string) result.Claim {
	c := experiment.AtMost(1.05, kase, model, than, endable)
	c.Stretch = 1
	return c
}

// study measures records that take as long to consume as to read.
func (w work) study(b *experiment.Bench) experiment.Study {
	c := experiment.Case{
		Name: fmt.Sprintf("records=%d/consumer=heavy", w.n), Doc: "an op is a record that takes as long to consume as to read", Reference: nameDirect, Ops: w.n, Count: samples,
		Models: w.models(w.consumer, direct(), blocks(), channel(0), channel(1000), batches(1000), generate(), seq(), blocksStream(), tallies(), parTallies(), rillGenerate(), concStream()),
	}
	return experiment.One(c, append(faster(b, c.Name, nameDirect, bufferedStreams...), faster(b, c.Name, nameBlocks, nameBlocksStream, nameTallies)...)...)
}

// reflected measures such records, decoded with binary.Read.
func (w work) reflected(b *experiment.Bench) experiment.Study {
	c := experiment.Case{
		Name: fmt.Sprintf("records=%d/decode=binary.Read/consumer=heavy", w.n), Doc: "an op is a record that takes as long to consume as to read with binary.Read", Reference: nameDirect, Ops: w.n, Count: samples,
		Models: w.models(w.consumer, direct(), channel(0), channel(1000), batches(1000), generate(), seq(), rillGenerate(), concStream()),
	}
	return experiment.One(c, faster(b, c.Name, nameDirect, bufferedStreams...)...)
}

// faster claims that reading and consuming overlap on several processors,
// beside a loop that reads in the same way.
func faster(b *experiment.Bench, kase, loop string, names ...string) (claims []result.Claim) {
	if b.Result.Processors == 1 {
		return nil
	}
	for _, name := range names {
		claim := experiment.AtMost(1, kase, name, loop, overlaps)
		claim.Stretch = 0.75
		claims = append(claims, claim)
	}
	return claims
}

// cancelled measures how long a scan continues after its context has ended.
func (t *table) cancelled() experiment.Study {
	c := experiment.Case{Name: "event=cancel", Doc: "the time is from the end of the context to the return of the scan", Reference: nameContextBoth, Ops: 5, Count: samples}
	for _, m := range []model{contextBoth(), generate()} {
		c.Models = append(c.Models, experiment.Model{Model: m.Model, Run: func(meter *measure.Meter) error { return t.cancel(meter, m) }})
	}
	claim := result.Claim{Case: c.Name, Model: nameGenerate, Unit: measure.Time, Form: result.Value, Bar: 1e6, Stretch: 1e5, Conclusion: endable}
	return experiment.One(c, claim)
}
