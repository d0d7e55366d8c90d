package chart

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func plain(v float64) string { return fmt.Sprintf("%.6g", v) }

func at(v float64) Value { return Value{v, v, v} }

// odd are unusual values that a drawing must support.
var odd = map[string][]Value{
	"zero":       {at(0)},
	"same":       {at(7), at(7)},
	"negative":   {at(-3), at(4), {-1, -2, 1}},
	"below zero": {at(-3), at(-9)},
	"far apart":  {{1, 0.5, 3}, at(1e9)},
	"wide":       {{2, 0, 1e6}},
	"tiny":       {at(1e-300), at(1e-299)},
}

// drawings returns the same values as bars and as curves.
func drawings(values []Value) map[string]string {
	f := Frame{ID: "a", Title: `<b> & "c"`, Desc: "d < e"}
	bars := Bars{Frame: f, Axis: Axis{"time", plain}}
	curves := Curves{Frame: f, X: Axis{"n", plain}, Y: Axis{"time", plain}}
	l := Line{Name: "line <&>", Ours: true}
	for i, v := range values {
		name := strings.Repeat("a/very-long-name <&>", i+1)
		bars.Bars = append(bars.Bars, Bar{Name: name, Look: []Look{Ours, Plain, Dashed}[i%3], Value: v, Text: plain(v.Mid)})
		l.Points = append(l.Points, Point{float64(i), v, "<&>"})
		curves.Lines = append(curves.Lines, Line{Name: name, Level: true, Points: []Point{{Y: v}}})
	}
	curves.Lines = append(curves.Lines, l)
	return map[string]string{"bars": bars.SVG(), "curves": curves.SVG()}
}

// elements returns the attributes of the elements with a class.
func elements(t *testing.T, svg, class string) (out []map[string]string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			attr := map[string]string{}
			for _, a := range e.Attr {
				attr[a.Name.Local] = a.Value
			}
			if class == "" || slices.Contains(strings.Fields(attr["class"]), class) {
				out = append(out, attr)
			}
		}
	}
}

func TestDrawingsAreWellFormed(t *testing.T) {
	for name, values := range odd {
		again := drawings(values)
		for kind, svg := range drawings(values) {
			if svg != again[kind] {
				t.Errorf("%s, %s: not the same twice", kind, name)
			}
			for _, attr := range elements(t, svg, "") {
				for key, value := range attr {
					if strings.Contains(value, "NaN") || strings.Contains(value, "Inf") {
						t.Errorf("%s, %s: %s=%q", kind, name, key, value)
					}
				}
			}
			if want := `<title id="a-t">&lt;b&gt; &amp; &#34;c&#34;</title><desc id="a-d">d &lt; e</desc>`; !strings.Contains(svg, want) {
				t.Errorf("%s, %s: no %s", kind, name, want)
			}
		}
	}
}

// number returns the number after a command of a path.
func number(t *testing.T, path, command string) float64 {
	t.Helper()
	_, rest, _ := strings.Cut(path, command)
	v, err := strconv.ParseFloat(rest[:strings.IndexAny(rest+"M", " vMHhLz")], 64)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return v
}

// Bars are as long as their values, and whiskers as their intervals.
func TestBars(t *testing.T) {
	svg := Bars{Axis: Axis{"", plain}, Bars: []Bar{{Value: Value{10, 5, 20}}, {Value: at(20)}}}.SVG()
	bars := elements(t, svg, "bar")
	if got := number(t, bars[1]["d"], "h") / number(t, bars[0]["d"], "h"); math.Abs(got-2) > 0.02 {
		t.Errorf("a bar of 20 is %.3f times as long as one of 10", got)
	}
	whiskers := elements(t, svg, "whisker")
	if len(whiskers) != 1 {
		t.Fatalf("%d whiskers, want one", len(whiskers))
	}
	from, to := number(t, whiskers[0]["d"], "M"), number(t, whiskers[0]["d"], "H")
	if got := (to - from) / number(t, bars[0]["d"], "h"); math.Abs(got-1.5) > 0.02 {
		t.Errorf("the interval is %.3f times as long as the bar, want 1.5", got)
	}
}

// A curve has a band of its intervals, and a level is a line without marks.
func TestCurves(t *testing.T) {
	svg := Curves{X: Axis{"n", plain}, Y: Axis{"", plain}, Lines: []Line{
		{Name: "a", Ours: true, Points: []Point{{4, Value{2, 1, 3}, ""}, {1, Value{3, 2, 4}, ""}, {2, at(1), ""}}},
		{Name: "b", Level: true, Points: []Point{{0, at(2), ""}}},
	}}.SVG()
	for class, want := range map[string]int{"band": 1, "curve": 4, "mark": 4, "level": 2, "ours": 7} { // also in the legend
		if got := len(elements(t, svg, class)); got != want {
			t.Errorf("%d elements of class %s, want %d", got, class, want)
		}
	}
	far := Curves{X: Axis{"n", plain}, Y: Axis{"", plain}, Lines: []Line{{Points: []Point{{0, at(1), ""}, {1, at(1), ""}, {1000, at(1), ""}}}}}.SVG()
	marks := elements(t, far, "mark")
	if a, b, c := number(t, marks[0]["d"], "M"), number(t, marks[1]["d"], "M"), number(t, marks[2]["d"], "M"); b < a+20 || c < b+20 || !strings.Contains(far, ">n, log scale<") {
		t.Errorf("0, 1 and 1000 are at %v, %v and %v", a, b, c)
	}
	path := elements(t, svg, "line0")[0]["d"]
	if number(t, path, "M") > number(t, path, "L") {
		t.Errorf("%s does not go from left to right", path)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		s    scale
		want string
	}{
		{scale{lo: 0, hi: 10}, "[0 5 10]"},
		{scale{lo: -3, hi: 4}, "[-2 0 2 4]"},
		{scale{lo: 0, hi: 1.6e9}, "[0 5e+08 1e+09 1.5e+09]"},
		{scale{log: true, lo: 1, hi: 25}, "[1 2 5 10 20]"},
		{scale{log: true, lo: 50, hi: 3000}, "[50 100 200 500 1000 2000]"},
		{scale{log: true, lo: 1, hi: 1e9}, "[1 100 10000 1e+06 1e+08]"},
	} {
		if got := fmt.Sprint(c.s.ticks(4)); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.s, got, c.want)
		}
	}
	if s := fit([]float64{1, 30}); !s.log {
		t.Error("values far apart have a linear scale")
	}
}
