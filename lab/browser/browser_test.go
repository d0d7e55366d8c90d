package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write writes a page into a file and returns its address.
func write(t *testing.T, body string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "page.html")
	text := `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
		`<link rel="icon" href="data:,"><title>t</title><style>:root{color-scheme:light dark}</style>` + body
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return "file://" + filepath.ToSlash(name)
}

// drawn counts the named charts.
var drawn int

// chart returns a drawing with a name and a table.
func chart(inside string) string {
	drawn++
	return strings.ReplaceAll(`<figure><svg role="img" aria-labelledby="NUMBER" viewBox="0 0 100 40" width="100" height="40"><title id="NUMBER">name</title>`+inside+`</svg><table><tr><td>1</table></figure>`, "NUMBER", fmt.Sprint("chart-", drawn))
}

func TestFaults(t *testing.T) {
	b := Start(t)
	clean := `<h1 id="a">Text</h1><a href="#a">up</a>` + chart(`<text x="2" y="16">a</text><text x="2" y="36">b</text>`) +
		`<details><summary>More</summary><div style="width:900px">wide</div></details><svg aria-hidden="true" width="10" height="10"></svg>`
	if got := b.Open(t, write(t, clean), Light, 390).Faults(); len(got) > 0 {
		t.Errorf("faults of a page without any: %q", got)
	}
	faults := []struct{ body, want string }{
		{`<div style="width:900px">wide</div>`, "the page is 9"},
		{`<a href="#nowhere">x</a>`, "a link leads to nowhere"},
		{`<p id="two">x</p><p id="two">y</p>`, "two elements have the id two"},
		{chart(`<text x="2" y="16">first</text><text x="10" y="18">second</text>`), `"first" is over "second"`},
		{chart(`<text x="90" y="16">too long for it</text>`), `"too long for it" is beyond its drawing`},
		{`<div id="untabled">` + strings.ReplaceAll(chart(""), "table", "p") + `</div>`, "a drawing has no table after it in #untabled"},
		{`<div id="nameless">` + strings.ReplaceAll(chart(""), "name", "") + `</div>`, "a drawing has no role or name in #nameless"},
		{strings.ReplaceAll(chart(""), `height="40"`, `height="0"`), "a drawing has no size"},
		{`<p style="color:#999">pale</p>`, `"pale" has a contrast of 2.85`},
		{`<div style="background:#555"><p style="color:#000">dark</p></div>`, `"dark" has a contrast of`},
		{chart(`<text x="2" y="16" fill="#ccc">drawn</text>`), `"drawn" has a contrast of`},
	}
	body := ""
	for _, f := range faults {
		body += f.body
	}
	got := b.Open(t, write(t, body), Light, 390).Faults()
	for _, f := range faults {
		if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, f.want) }) {
			t.Errorf("%q is not among the faults", f.want)
		}
	}
	if len(got) != len(faults) {
		t.Errorf("%d faults, want %d: %q", len(got), len(faults), got)
	}
}

func TestSchemes(t *testing.T) {
	b := Start(t)
	body := `<style>p{color:#000;background:#fff}@media(prefers-color-scheme:dark){p{background:#222}}</style><p>text`
	if got := b.Open(t, write(t, body), Light, 800).Faults(); len(got) > 0 {
		t.Errorf("light: %q", got)
	}
	if got := b.Open(t, write(t, body), Dark, 800).Faults(); len(got) != 1 {
		t.Errorf("dark: %q, want one fault", got)
	}
}

// What a page logs, throws and loads is among its faults, also what is folded at first.
func TestPage(t *testing.T) {
	p := Start(t).Open(t, write(t, `<details><p style="color:#999">inside</p></details><img src="missing.png" alt=""><script>console.warn("careful"); console.log("well"); setTimeout(() => { throw new Error("broken") })</script>`), Light, 500)
	if got := Eval[int](p, "innerWidth"); got != 500 {
		t.Errorf("the window is %d wide, want 500", got)
	}
	p.OpenDetails()
	Eval[bool](p, `setTimeout(() => document.title = "later"), true`)
	p.Wait(`document.title === "later"`) // after the page's scheduled work
	got := strings.Join(p.Faults(), "\n")
	for _, want := range []string{`"inside" has a contrast`, "careful", "broken", "a request to file:", "missing.png"} {
		if !strings.Contains(got, want) {
			t.Errorf("faults %q, want %q among them", got, want)
		}
	}
	if strings.Contains(got, "well") || p.Requests() != 2 {
		t.Errorf("faults %q of %d requests, want no message that is no warning, and the page and its picture", got, p.Requests())
	}
}
