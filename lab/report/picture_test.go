package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/browser"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// pictured are costs of the example wide, one of them not pictured.
func pictured() []Cost {
	return []Cost{
		{Of: "one of two", Experiment: "wide", Case: "n=1", Unit: measure.Time, Pictured: []string{"stint", "gnu"}},
		{Of: "a `record` of three; twin has no limit, and its note is so long that it takes more than one line of the picture", Experiment: "wide", Case: "n=2", Unit: measure.Time, Pictured: []string{"twin", "stint"}},
		{Of: "its memory, which has a name of its own & some words", Experiment: "wide", Case: "n=2", Unit: measure.PeakRSS, Pictured: []string{"stint", "twin", "gnu"}},
		{Of: "not pictured", Experiment: "none"},
	}
}

// draw writes the picture of costs of a result and returns it by scheme.
func draw(t *testing.T, r *result.Result) map[browser.Scheme]string {
	t.Helper()
	files, err := Picture(filepath.Join(t.TempDir(), "costs"), []*result.Result{r}, pictured())
	if err != nil || len(files) != 2 {
		t.Fatalf("wrote %q, %v, want 2 files", files, err)
	}
	out := map[browser.Scheme]string{}
	for _, scheme := range []browser.Scheme{browser.Light, browser.Dark} {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(files[0]), "costs-"+string(scheme)+".svg"))
		if err != nil {
			t.Fatal(err)
		}
		out[scheme] = string(text)
	}
	return out
}

func TestPicture(t *testing.T) {
	r := wide()
	r.Models[len(r.Models)-1].Unbounded = true // twin
	files := draw(t, r)
	for scheme, text := range files {
		for _, want := range []string{
			">One of two<", ">A record of three<", ">twin, no limit<", ">50.5 ms<", ">Not shown, and smaller: gnu 100 ms<", `class="bar ours"`, `class="whisker"`,
			"which has a name of its own &amp; some words: stint 8.39 MB, ", "A CPU: fast",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in it", scheme, want)
			}
		}
		for _, bad := range []string{"href", "url(", "@import"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: %q in it", scheme, bad)
			}
		}
	}
	if light, dark := files[browser.Light], files[browser.Dark]; strings.Replace(light, "@media not all", "@media all", 1) != dark || light == dark {
		t.Error("they differ in more than the colours, or do not differ")
	}
}

func TestPictureNamesWhatIsMissing(t *testing.T) {
	costs := pictured()
	costs[0].Pictured = append(costs[0].Pictured, "other")
	costs[2].Experiment = "absent"
	name := filepath.Join(t.TempDir(), "costs")
	files, err := Picture(name, []*result.Result{wide()}, costs)
	for _, want := range []string{"wide n=1: no time/op of other", "absent n=2: no peak RSS of stint", "absent n=2: no peak RSS of gnu"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	if left, _ := filepath.Glob(name + "*"); len(left)+len(files) > 0 {
		t.Errorf("wrote %q, %q", left, files)
	}
}

// A browser shows both files without overlaps, in their colours whatever the
// reader's scheme is.
func TestPictureInABrowser(t *testing.T) {
	b := browser.Start(t)
	for scheme, text := range draw(t, wide()) {
		dir := t.TempDir()
		for name, content := range map[string]string{"a.svg": text, "a.html": `<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title><link rel="icon" href="data:,"><figure>` + text + `<table><tr><td>1</table></figure>`} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		at := "file://" + filepath.ToSlash(dir)
		for _, f := range b.Open(t, at+"/a.html", browser.Light, 900).Faults() {
			if !strings.Contains(f, "contrast") { // of texts on the background of the drawing, which Faults does not see
				t.Errorf("%s: %s", scheme, f)
			}
		}
		ground := map[browser.Scheme]string{browser.Light: "rgb(255, 255, 255)", browser.Dark: "rgb(20, 24, 29)"}[scheme]
		for _, reader := range []browser.Scheme{browser.Light, browser.Dark} {
			p := b.Open(t, at+"/a.svg", reader, 900)
			if got := browser.Eval[string](p, `getComputedStyle(document.documentElement).backgroundColor`); got != ground {
				t.Errorf("%s for a reader of %s: the background is %s, want %s", scheme, reader, got, ground)
			}
			if got := p.Requests(); len(got) != 1 {
				t.Errorf("requests %q, want the file alone", got)
			}
		}
	}
}
