package hops

import (
	"fmt"
	"iter"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/stream"
)

const cheap = "A boundary of a stream costs a record at most a tenth of a channel operation, and no more than batches by hand."

// boundaries measures records that pass from goroutine to goroutine: from a slice with
// stream.Buffer, else from a sequence, which may block between any two.
func (w work) boundaries() experiment.Study {
	const slice, stages = "stream.Buffer", 8
	name := func(n int) string { return fmt.Sprintf("record=32-bytes/boundaries=%d/beside=peers", n) }
	var st experiment.Study
	more := func(kase, model string, bar float64, note string) {
		c := result.Claim{Case: kase, Model: model, Unit: measure.Time, Form: result.Difference, Than: slice, InCase: name(0), Bar: bar, Note: note}
		st.Claims = append(st.Claims, c)
	}
	for _, n := range []int{0, 1, 4} {
		c := experiment.Case{Name: name(n), Doc: "an op is a record of 32 bytes", Reference: slice, Ops: 10 * len(w.in), Count: samples, Main: n == 1}
		doc := fmt.Sprintf("From, Map, a Buffer of %d records a hop, Reduce", bufferSize)
		c.Models = append(c.Models, w.model(result.Ours.Model(slice, doc), 1, func() uint64 {
			return reduce(buffered(stream.Map(stream.From(w.in), add), n), fold)
		}))
		if n == 0 {
			c.Models = append(c.Models, w.model(result.Ours.Model("stream.Map-8", "From, 8 Maps, Reduce"), stages, func() uint64 {
				s := stream.From(w.in)
				for range stages {
					s = stream.Map(s, add)
				}
				return reduce(s, fold)
			}))
			more(c.Name, "stream.Map-8", 2*(stages-1), "2 ns a stage")
		} else {
			for _, p := range append(prompt, batches) {
				c.Models = append(c.Models, w.model(p.Model, 1, func() uint64 { return p.run(w.added(), n, fold) }))
			}
			more(c.Name, slice, 4*float64(n), "4 ns a boundary")
			more(c.Name, "stream.FromSeq", 5+4*float64(n), "5 ns more behind a sequence")
			st.Claims = append(st.Claims, experiment.AtMost(0.1, c.Name, slice, "channel", cheap), experiment.AtMost(1, c.Name, slice, "batches", cheap))
		}
		st.Cases = append(st.Cases, c)
	}
	return st
}

// added yields the records after a stage.
func (w work) added() iter.Seq[record] {
	return func(yield func(record) bool) {
		for _, r := range w.in {
			if !yield(add(r)) {
				return
			}
		}
	}
}
