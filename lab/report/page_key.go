package report

import (
	"html/template"

	"github.com/stint-go/stint/lab/chart"
)

// signs records what the charts of an experiment show, for the legend.
type signs struct {
	bars, lines, levels map[chart.Look]bool
	bands               bool
}

func (s *signs) bar(l chart.Look) { s.bars = with(s.bars, l) }

func (s *signs) curves(c chart.Curves) {
	for _, l := range c.Lines {
		s.lines = with(s.lines, l.Look)
		for _, p := range l.Points {
			s.bands = s.bands || p.Y.Hi > p.Y.Lo
		}
	}
	for _, l := range c.Levels {
		s.levels = with(s.levels, l.Look)
		s.bands = s.bands || l.Y.Hi > l.Y.Lo
	}
}

func with(set map[chart.Look]bool, l chart.Look) map[chart.Look]bool {
	if set == nil {
		set = map[chart.Look]bool{}
	}
	set[l] = true
	return set
}

// A keyEntry explains a sign.
type keyEntry struct {
	SVG  template.HTML // swatches, or none if the text has the sign
	Text string
}

// key explains the recorded signs.
func (s *signs) key() []keyEntry {
	var out []keyEntry
	say := func(set map[chart.Look]bool, swatch func(chart.Look) string, text string, looks ...chart.Look) {
		entry := keyEntry{Text: text}
		for _, l := range looks {
			if set[l] {
				entry.SVG += template.HTML(swatch(l))
			}
		}
		if entry.SVG != "" {
			out = append(out, entry)
		}
	}
	say(s.bars, chart.Swatch, "stint, its name in bold", chart.Strong)
	say(s.bars, chart.Swatch, "peers: libraries, tools, hand-written code", chart.Plain)
	say(s.bars, chart.Swatch, "floor: a lower bound, not an alternative", chart.Dashed)
	if len(s.bars) > 0 {
		out = append(out,
			keyEntry{Text: "● ○ □ the same as points, where the scale is logarithmic"},
			keyEntry{Text: "★ least"},
			keyEntry{Text: "├─┤ interval of the median, at least 95 %"})
	}
	say(s.lines, chart.CurveSwatch, "lines of stint, their names in bold", chart.Strong, chart.Second, chart.Third)
	say(s.lines, chart.CurveSwatch, "the peer that is best in most cases", chart.Rival)
	say(s.lines, chart.CurveSwatch, "other lines of peers", chart.Plain)
	say(s.lines, chart.CurveSwatch, "line of a floor", chart.Dashed)
	say(s.levels, chart.LevelSwatch, "a model without the axis's number, or the reference at 1", chart.Strong, chart.Second, chart.Third, chart.Plain, chart.Dashed)
	if s.bands {
		out = append(out, keyEntry{template.HTML(chart.BandSwatch(chart.Strong)), "interval of the median, at least 95 %"})
	}
	return out
}
