package scan

import (
	"fmt"
	"slices"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
)

// figures are the article's, in seconds for its table.
func figures() []result.Figure {
	var out []result.Figure
	for _, f := range []struct {
		model string
		s     float64
	}{
		{"csv", 15.7}, {"direct", 8.2},
		{"channel", 19.9}, {"channel-1000", 14.3}, // after the select with done was removed
		{"channel-done", 27.0}, {"channel-done-1", 23.5}, {"channel-done-1000", 17.4},
		{"channel-context-consumer", 58}, {"channel-context-both", 58}, // to 59
		{"batches-1", 28.8}, {"batches-10", 12.4}, {"batches-100", 8.9}, {"batches-1000", 8.7}, {"batches-10000", 8.7}, {"batches-100000", 9.3},
	} {
		text := fmt.Sprintf("%.1f s, %.0f ns a record", f.s, f.s*1e9/ratings)
		if f.s == 58 {
			text = "58 to 59 s, 2900 to 2950 ns a record"
		}
		out = append(out, result.Figure{Model: f.model, Text: text})
	}
	return append(out, result.Figure{Model: "channel-context-producer", Text: "no figure of its own"})
}

const (
	formats  = "Reading the binary file directly is more than twice as fast as reading the CSV file."
	boundary = "A boundary of a stream makes the scan no slower on two processors: reading and consuming overlap."
	overlap  = "Where consuming takes as long as reading, a boundary of a stream makes the scan faster on two processors."
)

// A sentence is a conclusion, supported by models that take at most bar times as long as
// another.
type sentence struct {
	article    result.Article
	conclusion string
	bar        float64
	models     [][2]string // a model and the other
}

var sentences = []sentence{
	{result.Channels, "A channel operation a record makes the scan of the binary file slower than that of the CSV file.",
		1, [][2]string{{"csv", "channel-done"}, {"csv", "channel"}}},
	{result.Channels, formats,
		1.0 / 2, [][2]string{{"direct", "csv"}}},
	{result.Channels, "Reading the binary file directly is more than three times as fast as over a channel.",
		1.0 / 3, [][2]string{{"direct", "channel-done"}}},
	{result.Channels, "A select with a context doubles the time of the channel: at the producer, at the consumer, and at both.",
		1.0 / 2, [][2]string{{"channel-done", "channel-context-producer"}, {"channel-done", "channel-context-consumer"}, {"channel-done", "channel-context-both"}}},
	{result.Channels, "A buffer makes the channel faster.",
		1, [][2]string{{"channel-done-1", "channel-done"}, {"channel-done-1000", "channel-done"}, {"channel-1000", "channel"}}},
	{result.Channels, "A buffer is not enough: over a buffered channel the binary file stays slower than the CSV file.",
		1, [][2]string{{"csv", "channel-done-1000"}}},
	{result.Channels, "Without the select with done the channel is faster.",
		1, [][2]string{{"channel", "channel-done"}, {"channel-1000", "channel-done-1000"}}},
	{result.Channels, "Batches of 1,000 records restore the time without a channel.",
		1.07, [][2]string{{"batches-1000", "direct"}}},
	{result.Channels, "Batches of 100,000 records are slower than batches of 1,000.",
		1, [][2]string{{"batches-1000", "batches-100000"}}},
	{result.Channels, "The fastest scanner is a method NextRecord that the consumer calls, without a goroutine: direct.",
		1, [][2]string{{"direct", result.BestPeer}}},
	{"", "Sending a record is not slower than sending a pointer to it.",
		1.05, [][2]string{{"channel-values", "channel"}}},
	{"", "NextRecord over a stream takes at most 10 % longer than the direct one.",
		1.1, [][2]string{{"stream.NextRecord", "direct"}, {"stream.NextRecord-fused", "direct"}}},
	{"", "A scan over a stream can be cancelled, at no cost a record.",
		1.05, [][2]string{{"stream.Generate-fused", "direct"}}},
	{"", boundary,
		1.05, [][2]string{{"stream.FromSeq", "direct"}, {"stream.Generate", "direct"}}},
}

// claims returns the claims about a case, except for conclusions that it cannot decide.
// Reading and consuming overlap only on several processors.
func claims(c experiment.Case, several bool, except ...string) []result.Claim {
	if !several {
		except = append(except, boundary)
	}
	has := func(name string) bool {
		return name == result.BestPeer || slices.ContainsFunc(c.Models, func(m experiment.Model) bool { return m.Name == name })
	}
	var out []result.Claim
	for _, s := range sentences {
		for _, pair := range s.models {
			if has(pair[0]) && has(pair[1]) && !slices.Contains(except, s.conclusion) {
				out = append(out, experiment.Concludes(s.article, s.conclusion, experiment.AtMost(s.bar, c.Name, pair[0], pair[1], ""))...)
			}
		}
	}
	return out
}
