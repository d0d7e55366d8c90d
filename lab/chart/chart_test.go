package chart

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// plain formats a number without rounding.
func plain(v float64) string { return fmt.Sprintf("%.6g", v) }

var axis = Axis{Label: "time", Format: plain}

// odd are unusual values that a drawing must support.
var odd = map[string][]Value{
	"none":       nil,
	"one":        {At(5)},
	"zero":       {At(0)},
	"zeros":      {At(0), At(0)},
	"same":       {At(7), At(7)},
	"negative":   {At(-3), At(4), {Mid: -1, Lo: -2, Hi: 1}},
	"below zero": {At(-3), At(-9)},
	"missing":    {At(math.NaN()), At(2), At(math.Inf(1))},
	"only gaps":  {At(math.NaN())},
	"far apart":  {{Mid: 1, Lo: 0.5, Hi: 3}, At(1e9)},
	"interval":   {{Mid: 2, Lo: 0, Hi: 1e6}, {Mid: 3, Lo: math.Inf(-1), Hi: math.Inf(1)}},
	"tiny":       {At(1e-300), At(1e-299)},
	"upside":     {{Mid: 2, Lo: 3, Hi: 1}},
}

// drawings returns one drawing of each kind of the same values.
func drawings(values []Value) map[string]string {
	f := Frame{ID: "a", Title: `<b> & "c"`, Desc: "d < e"}
	bars := Bars{Frame: f, Axis: axis, Beside: "× <x>"}
	dots := Dots{Frame: f, Axis: axis, Below: "less", Above: "more"}
	curves := Curves{Frame: f, X: Axis{"n", plain}, Y: axis, Levels: []Level{{"none", Dashed, At(math.NaN())}}}
	l := Line{Name: "line <&>"}
	for i, v := range values {
		look := Look(i % int(Dashed+2)) // one more than defined
		bars.Bars = append(bars.Bars, Bar{Name: "a/very-long-name-that-must-be-cut-somewhere <&>", Look: look, Value: v, Text: plain(v.Mid), Note: "<1>", Best: i == 0})
		dots.Rows = append(dots.Rows, DotRow{Title: "t", Name: "row <&>", Text: "1", Dots: []Dot{{look, v, "words <&>"}}})
		l.Points = append(l.Points, Point{float64(i), v, "<&>"})
		curves.Levels = append(curves.Levels, Level{"level <&>", look, v})
	}
	curves.Lines = []Line{l, {Name: "empty"}}
	return map[string]string{"bars": bars.SVG(), "dots": dots.SVG(), "curves": curves.SVG(), "shares": Shares{{Strong, len(values)}, {Plain, -1}}.SVG(), "swatch": Swatch(Plain), "curve": CurveSwatch(Rival), "level": LevelSwatch(Dashed), "band": BandSwatch(Strong)}
}

func TestDrawingsAreWellFormed(t *testing.T) {
	for name, values := range odd {
		again := drawings(values)
		for kind, svg := range drawings(values) {
			if svg != again[kind] {
				t.Errorf("%s, %s: not the same twice", kind, name)
			}
			for _, p := range partsOf(t, svg) {
				for key, value := range p.attr {
					if strings.Contains(value, "NaN") || strings.Contains(value, "Inf") || (key == "width" || key == "height") && strings.HasPrefix(value, "-") {
						t.Errorf("%s, %s: %s has %s=%q", kind, name, p.name, key, value)
					}
				}
			}
		}
	}
}

func TestTextIsEscaped(t *testing.T) {
	svg := drawings([]Value{At(1), At(2)})["bars"]
	parts := partsOf(t, svg)
	if got, want := parts[1].text+parts[2].text, `<b> & "c"d < e`; got != want {
		t.Errorf("title and description %q, want %q", got, want)
	}
	if parts[0].attr["aria-labelledby"] != parts[1].attr["id"]+" "+parts[2].attr["id"] {
		t.Errorf("%v is not labelled by %v and %v", parts[0].attr, parts[1].attr, parts[2].attr)
	}
}

// A part is an element with its attributes.
type part struct {
	name string
	attr map[string]string
	text string
}

// parts returns the elements of a drawing, in order.
func partsOf(t *testing.T, svg string) []part {
	t.Helper()
	var out []part
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			p := part{name: token.Name.Local, attr: map[string]string{}}
			for _, a := range token.Attr {
				p.attr[a.Name.Local] = a.Value
			}
			out = append(out, p)
		case xml.CharData:
			out[len(out)-1].text += string(token)
		}
	}
}

// withClass returns the parts that have all the given classes.
func withClass(parts []part, classes ...string) []part {
	var out []part
	for _, p := range parts {
		has := strings.Fields(p.attr["class"])
		if !slices.ContainsFunc(classes, func(c string) bool { return !slices.Contains(has, c) }) {
			out = append(out, p)
		}
	}
	return out
}

func (p part) float(t *testing.T, name string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(p.attr[name], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestBarsAreAsLongAsTheirValues(t *testing.T) {
	b := Bars{Axis: axis, Bars: []Bar{{Name: "a", Value: At(10)}, {Name: "b", Look: Plain, Value: At(20)}, {Name: "c", Look: Dashed, Value: At(-5)}}}
	bars := withClass(partsOf(t, b.SVG()), "bar")
	if len(bars) != 3 {
		t.Fatalf("%d bars, want 3", len(bars))
	}
	a, c := bars[0], bars[2]
	for i, want := range []float64{1, 2, 0.5} {
		if got := bars[i].float(t, "width") / a.float(t, "width"); math.Abs(got-want) > 0.02 {
			t.Errorf("bar %d is %.3f times as long as the first, want %v", i, got, want)
		}
	}
	if zero := a.float(t, "x"); math.Abs(c.float(t, "x")+c.float(t, "width")-zero) > 0.2 {
		t.Errorf("the bar below zero is %v wide from %v, and does not end at %v", c.float(t, "width"), c.float(t, "x"), zero)
	}
}

func TestLogScaleOnlyWhereItIsNeeded(t *testing.T) {
	for _, c := range []struct {
		values []float64
		log    bool
	}{{[]float64{1, 19}, false}, {[]float64{1, 21}, true}, {[]float64{0, 100}, false}, {[]float64{-1, 100}, false}} {
		b := Bars{Axis: axis}
		for _, v := range c.values {
			b.Bars = append(b.Bars, Bar{Name: "a", Value: At(v)})
		}
		svg := b.SVG()
		if said := strings.Contains(svg, "time, log scale"); said != c.log {
			t.Errorf("%v: log scale is said: %v, want %v", c.values, said, c.log)
		}
		if bars := len(withClass(partsOf(t, svg), "bar")); (bars == 0) != c.log {
			t.Errorf("%v: %d bars; on a logarithmic scale there is no zero for them to begin at", c.values, bars)
		}
	}
}

func TestMissingIsSaid(t *testing.T) {
	svg := Bars{Axis: axis, Bars: []Bar{{Name: "a", Value: At(math.NaN()), Text: "x"}, {Name: "b", Value: At(1)}}}.SVG()
	if !strings.Contains(svg, ">not measured<") || len(withClass(partsOf(t, svg), "bar")) != 1 {
		t.Errorf("want one bar, and one row that says that it was not measured: %s", svg)
	}
}

// On a logarithmic scale the points use the room of the texts where these fit
// beside them, and no text leaves its column.
func TestTextsBesidePoints(t *testing.T) {
	b := Bars{Axis: axis}
	for _, v := range []float64{1, 3, 10, 50, 100} {
		b.Bars = append(b.Bars, Bar{Name: "a", Value: Value{v, v * 0.9, v * 1.1}, Text: "12.3 ms", Note: "1.00"})
	}
	at := b.columns()
	parts := partsOf(t, b.SVG())
	last := 0.0
	for _, p := range withClass(parts, "mark") {
		last = max(last, p.float(t, "cx"))
	}
	if last <= at.end {
		t.Errorf("the last point is at %v, and the texts take all from %v on", last, at.end)
	}
	sides := map[bool]int{}
	for _, p := range withClass(parts, "over") {
		x, left := p.float(t, "x"), slices.Contains(strings.Fields(p.attr["class"]), "end")
		sides[left]++
		if hasInterval := textWidth(p.text, true); left && x-hasInterval < at.plot || !left && x+hasInterval > at.text {
			t.Errorf("a text at %v, left %v, %v wide, is beyond %v to %v", x, left, hasInterval, at.plot, at.text)
		}
	}
	if sides[true] == 0 || sides[false] == 0 {
		t.Errorf("texts left of their points: %v, want some on each side", sides)
	}
	b.Bars[2].Value, b.Bars[2].Text = Value{10, 1, 100}, "a long text that takes much room"
	if at := b.columns(); b.fit(at, b.scale().over(at.plot, at.text-4)) {
		t.Error("a text has room beside an interval that takes all of the scale")
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		s    scale
		n    int
		want []float64
	}{
		{scale{lo: 0, hi: 10}, 4, []float64{0, 5, 10}},
		{scale{lo: 0, hi: 9}, 4, []float64{0, 5}},
		{scale{lo: -1, hi: 1}, 4, []float64{-1, -0.5, 0, 0.5, 1}},
		{scale{lo: 0, hi: 3e6}, 3, []float64{0, 1e6, 2e6, 3e6}},
		{scale{log: true, lo: 0.8, hi: 60}, 4, []float64{1, 2, 5, 10, 20, 50}},
		{scale{log: true, lo: 0.8, hi: 1.25}, 4, []float64{0.8, 0.9, 1, 1.1, 1.2}},
		{scale{log: true, lo: 0.5, hi: 2}, 4, []float64{0.5, 0.7, 1, 1.5, 2}},
		{scale{log: true, lo: 1, hi: 1e4}, 4, []float64{1, 10, 100, 1000, 1e4}},
		{scale{log: true, lo: 1, hi: 1e12}, 3, []float64{1, 1e3, 1e6, 1e9, 1e12}},
	} {
		got := c.s.ticks(c.n)
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }) {
			t.Errorf("%+v, %d: %v, want %v", c.s, c.n, got, c.want)
		}
	}
}

func TestScale(t *testing.T) {
	s := scale{log: true, lo: 1, hi: 100}.over(0, 200)
	for v, want := range map[float64]float64{1: 0, 10: 100, 100: 200, 1000: 200, 0: 0, -1: 0} {
		if got := s.at(v); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v is at %v, want %v", v, got, want)
		}
	}
}

func TestNamesDoNotMeet(t *testing.T) {
	var tags []nameTag
	for _, end := range []float64{50, 50, 51, 90, 98, 99} {
		tags = append(tags, nameTag{end: end})
	}
	spreadTags(tags, 10, 100)
	for i, a := range tags {
		if a.y < 10 || a.y > 100 {
			t.Errorf("name %d is at %v, beyond 10 to 100", i, a.y)
		}
		if i > 0 && a.y-tags[i-1].y < line-1e-9 {
			t.Errorf("names %d and %d are %v apart, want %v", i-1, i, a.y-tags[i-1].y, line)
		}
	}
}

// A chart with more names than lines grows.
func TestManyNames(t *testing.T) {
	v := Curves{X: axis, Y: axis}
	for i := range 40 {
		v.Lines = append(v.Lines, Line{Name: fmt.Sprint("line ", i), Points: []Point{{1, At(5), ""}, {2, At(5), ""}}})
	}
	var at []float64
	for _, p := range withClass(partsOf(t, v.SVG()), "name") {
		at = append(at, p.float(t, "y"))
	}
	slices.Sort(at)
	for i := range at[1:] {
		if at[i+1]-at[i] < line-0.2 {
			t.Fatalf("names at %v and %v", at[i], at[i+1])
		}
	}
	if len(at) != 40 {
		t.Errorf("%d names, want 40", len(at))
	}
}

func TestCurves(t *testing.T) {
	v := Curves{X: axis, Y: axis, Lines: []Line{
		{Name: "all", Points: []Point{{4, Value{3, 2, 4}, ""}, {1, Value{1, 0.5, 2}, ""}, {0, At(math.NaN()), ""}}},
		{Name: "point", Points: []Point{{4, At(3), ""}}},
	}}
	parts := partsOf(t, v.SVG())
	if n := len(withClass(parts, "curve")); n != 1 {
		t.Errorf("%d curves, want 1: a point is none", n)
	}
	if n := len(withClass(parts, "band")); n != 1 {
		t.Errorf("%d bands, want 1", n)
	}
	if n := len(withClass(parts, "mark")); n != 3 {
		t.Errorf("%d marks, want 3", n)
	}
	d := withClass(parts, "curve")[0].attr["d"]
	m := regexp.MustCompile(`^M(\S+) \S+?L(\S+) `).FindStringSubmatch(d)
	if m == nil {
		t.Fatalf("path %q", d)
	}
	from, _ := strconv.ParseFloat(m[1], 64)
	if to, _ := strconv.ParseFloat(m[2], 64); from >= to {
		t.Errorf("the curve goes from %v to %v, want it in the order of the axis", from, to)
	}
}

// With an end, the horizontal axis is linear from 0, with round labels.
func TestCurvesTo(t *testing.T) {
	v := Curves{X: axis, Y: axis, To: 100, Lines: []Line{{Name: "a", Points: []Point{{1, At(3), ""}, {25, At(3), ""}, {51, At(4), ""}}}}}
	if !v.HasPoints() || (Curves{Lines: []Line{{Points: []Point{{1, At(math.NaN()), ""}}}}}).HasPoints() {
		t.Error("points are not seen, or are where none are known")
	}
	x := v.xScale().over(0, 100)
	for _, at := range []float64{0, 1, 25, 51, 100} {
		if got := x.at(at); got != at {
			t.Errorf("%v is at %v", at, got)
		}
	}
	partsOf(t, v.SVG())
}

// Nothing is drawn where nothing was measured.
func TestGaps(t *testing.T) {
	hasInterval := func(x float64) Point { return Point{x, Value{x, x / 2, 2 * x}, ""} }
	none := func(x float64) Point { return Point{x, At(math.NaN()), ""} }
	for _, c := range []struct {
		points        []Point
		curves, drawn int
	}{
		{[]Point{hasInterval(1), hasInterval(2), none(3), hasInterval(4), hasInterval(5)}, 2, 4},
		{[]Point{hasInterval(5), none(3), hasInterval(1), hasInterval(2)}, 1, 3},
		{[]Point{none(1), hasInterval(2), hasInterval(3), none(4)}, 1, 2},
		{[]Point{hasInterval(1), none(2), hasInterval(3)}, 0, 2},
	} {
		parts := partsOf(t, Curves{X: axis, Y: axis, Lines: []Line{{Name: "a", Points: c.points}}}.SVG())
		curves, bands, marks := len(withClass(parts, "curve")), len(withClass(parts, "band")), len(withClass(parts, "mark"))
		if curves != c.curves || bands != c.curves || marks != c.drawn {
			t.Errorf("%v: %d curves, %d bands and %d points, want %d, %[5]d and %d", c.points, curves, bands, marks, c.curves, c.drawn)
		}
	}
}

// A measured level has its interval as a band, and fits into the scale.
func TestLevelsHaveIntervals(t *testing.T) {
	l := Line{Name: "a", Points: []Point{{1, At(1), ""}, {2, At(2), ""}}}
	parts := partsOf(t, Curves{X: axis, Y: axis, Lines: []Line{l}, Levels: []Level{{"measured", Plain, Value{3, 2, 8}}, {"one", Plain, At(1)}}}.SVG())
	bands := withClass(parts, "band")
	if len(bands) != 1 || len(withClass(parts, "level")) != 2 {
		t.Fatalf("%d bands and %d levels, want 1 and 2", len(bands), len(withClass(parts, "level")))
	}
	if s := (Curves{Levels: []Level{{"measured", Plain, Value{3, 2, 8}}}}).yScale(); s.hi < 8 {
		t.Errorf("the scale ends at %v, below the interval", s.hi)
	}
	if high := bands[0].float(t, "height"); high < plotHigh/2 {
		t.Errorf("the band is %v high, want 6 of 8 of the plot", high)
	}
}

// Both ends of the axis are labelled, however many values there are between.
func TestEndsOfTheAxisAreNamed(t *testing.T) {
	l := Line{Name: "a"}
	for i := range 100 {
		l.Points = append(l.Points, Point{float64(1000 + i), At(1), ""})
	}
	svg := Curves{X: Axis{"n", plain}, Y: axis, Lines: []Line{l}}.SVG()
	for _, want := range []string{">1000<", ">1099<"} {
		if strings.Count(svg, want) != 1 {
			t.Errorf("%s is %d times on the axis, want once", want, strings.Count(svg, want))
		}
	}
}

// An interval that continues beyond the scale is marked.
func TestCutIntervals(t *testing.T) {
	row := func(v Value) string {
		return Dots{Axis: axis, Least: 0.5, Most: 2, Rows: []DotRow{{Name: "a", Dots: []Dot{{Value: v}}}}}.SVG()
	}
	for _, c := range []struct {
		value       Value
		cuts, marks int
	}{
		{Value{1, 0.9, 1.1}, 0, 1},
		{Value{1, 0.9, 30}, 1, 1},
		{Value{1, 0.01, 30}, 2, 1},
		{Value{10, 0.9, 30}, 0, 1}, // the dot is an arrow
		{Value{10, 0.01, 30}, 1, 1},
		{At(1), 0, 1},
	} {
		parts := partsOf(t, row(c.value))
		if cuts, marks := len(withClass(parts, "cut")), len(withClass(parts, "mark")); cuts != c.cuts || marks != c.marks {
			t.Errorf("%v: %d cuts and %d marks, want %d and %d", c.value, cuts, marks, c.cuts, c.marks)
		}
	}
	free := Dots{Axis: axis, Rows: []DotRow{{Name: "a", Dots: []Dot{{Value: Value{1, 0.1, 30}}}}}}
	if parts := partsOf(t, free.SVG()); len(withClass(parts, "cut")) != 0 {
		t.Error("a scale without bounds cuts an interval")
	}
}

func TestDotsBeyondTheScaleAreArrows(t *testing.T) {
	d := Dots{Axis: axis, Least: 0.25, Most: 4, Rows: []DotRow{{Name: "a", Dots: []Dot{{Value: At(0.01)}, {Value: At(1)}, {Value: At(100)}, {Value: At(0)}, {Value: At(-1)}}}}}
	marks := withClass(partsOf(t, d.SVG()), "mark")
	var kinds []string
	for _, m := range marks {
		kinds = append(kinds, m.name)
	}
	if want := []string{"path", "circle", "path"}; !slices.Equal(kinds, want) {
		t.Errorf("marks %v, want %v: an arrow, a disc, an arrow, and nothing for what is no ratio", kinds, want)
	}
}

func TestLooksDifferWithoutColour(t *testing.T) {
	seen := map[string]Look{}
	for l := Strong; l <= Dashed; l++ {
		c := &canvas{}
		c.mark(0, 0, l, "")
		p := partsOf(t, c.b.String())[0]
		hollow := len(withClass([]part{p}, "plain"))+len(withClass([]part{p}, "dashed")) > 0
		shape := fmt.Sprint(p.name, p.attr["d"], hollow)
		if other, ok := seen[shape]; ok {
			t.Errorf("looks %d and %d have the same mark", other, l)
		}
		seen[shape] = l
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit float64
		want  []string
	}{
		{"short", 100, []string{"short"}},
		{"", 100, []string{""}},
		{"row=a/n=1", 40, []string{"row=a/", "n=1"}},
		{"oneverylongword", 10, []string{"oneverylongword"}},
		{"two words", 40, []string{"two", "words"}},
	} {
		if got := wrap(c.text, false, c.limit); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// The rules have a colour for each look, and each variable in both schemes.
func TestStyle(t *testing.T) {
	light, dark, ok := strings.Cut(Style, "@media (prefers-color-scheme: dark)")
	if !ok {
		t.Fatal("no rules for a dark scheme")
	}
	for l := Strong; l <= Dashed; l++ {
		if !regexp.MustCompile(`\.` + l.class() + `\b[^{}]*\{ --look:`).MatchString(Style) {
			t.Errorf("%s has no colour", l.class())
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^  (--chart-\w+):`).FindAllStringSubmatch(light, -1) {
		if !strings.Contains(dark, m[1]+":") {
			t.Errorf("%s has no dark value", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`var\((--chart-\w+)\)`).FindAllStringSubmatch(Style, -1) {
		if !strings.Contains(light, m[1]+":") {
			t.Errorf("%s is used and has no value", m[1])
		}
	}
}
