package house

import (
	"fmt"
	"go/ast"
	"go/format"
	"regexp"
	"strings"
	"testing"
)

// fence begins and ends a block of code in Markdown.
const fence = "```"

// A block is a fenced block of a Markdown file.
type block struct {
	lang string
	text string
	line int // of its first line of code
}

// blocks returns the fenced blocks of a Markdown text.
func blocks(text string) []block {
	var out []block
	var open *block
	for i, line := range strings.Split(text, "\n") {
		lang, fenced := strings.CutPrefix(strings.TrimSpace(line), fence)
		switch {
		case fenced && open == nil:
			open = &block{lang: strings.TrimSpace(lang), line: i + 2}
		case fenced:
			out = append(out, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	return out
}

func TestReadmeCodeIsAnExample(t *testing.T) {
	with := func(code string) map[string]string {
		return map[string]string{
			"README.md": "# stint\n\n" + fence + "go\n" + code + fence + "\n\n" + fence + "sh\nls\n" + fence + "\n",
			"par/a_test.go": "package par_test\n\nfunc ExampleF() {\n\t// First.\n\tif a := f(); a {\n\t\tg(a)\n\t}\n\n\th()\n\n\t// Output:\n\t// 1\n}\n" +
				"\nfunc ExampleG() {\n\tx()\n\t// Unordered output: 1\n}\n",
		}
	}
	verify(t, readmeCode,
		sample{"same", with("// First.\nif a := f(); a {\n\tg(a)\n}\n\nh()\n"), ""},
		sample{"spaces", with("// First.\nif a := f(); a {\n    g( a )\n}\n\n\n\nh()\n"), ""},
		sample{"output", with("x()\n// Output: 1\n"), ""},
		sample{"missing", map[string]string{}, "README.md:1: missing"},
		sample{"other", with("// First.\nif a := f(); a {\n\tg(b)\n}\n\nh()\n"), "README.md:4: code that is no Example; the nearest is ExampleF (par/a_test.go:3): line 3 is `g(b)` here and `g(a)` there"},
		sample{"shorter", with("// First.\n"), "the nearest is ExampleF (par/a_test.go:3): line 2 is `` here"},
		sample{"none", with("y()\n"), "code that is no Example of the root module"},
		sample{"program", with("package main\n\nfunc main() {}\n"), "code that is no Example of the root module"},
		sample{"nonsense", with("if {\n"), "README.md:4: code that does not parse"},
		sample{"lab", map[string]string{"README.md": fence + "go\nx()\n" + fence, "lab/go.mod": "", "lab/a_test.go": "package lab\n\nfunc ExampleX() {\n\tx()\n}\n"}, "no Example"},
	)
}

// readmeCode checks that each Go block of the README is the body of an Example
// of the root module: what it shows is compiled, and its output is checked.
func readmeCode(t *tree) []string {
	readme := t.file("README.md")
	if readme == nil {
		return []string{"README.md:1: missing; write it, its Go blocks are checked against the Examples"}
	}
	known := t.bodies()
	var bad []string
	for _, b := range blocks(readme.text) {
		if b.lang != "go" {
			continue
		}
		code, err := tidy(b.text)
		if err != nil {
			bad = append(bad, readme.on(b.line, "code that does not parse: %v", err))
		} else if what := nearest(code, known); what != "" {
			bad = append(bad, readme.on(b.line, "code that is no Example%s; make the two the same", what))
		}
	}
	return bad
}

// A body is the code of an Example.
type body struct {
	name  string
	where string // file:line
	code  string
}

// bodies returns the code of all Examples of the root module.
func (t *tree) bodies() []body {
	var out []body
	for _, f := range t.golang(func(f *file) bool { return f.test() && t.module(f.path) == "." }) {
		for _, d := range f.syntax.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok || d.Recv != nil || d.Body == nil || !strings.HasPrefix(d.Name.Name, "Example") {
				continue
			}
			if code, err := tidy(f.text[f.offset(d.Body.Lbrace)+1 : f.offset(d.Body.Rbrace)]); err == nil {
				where := fmt.Sprintf("%s:%d", f.path, f.line(d.Pos()))
				out = append(out, body{d.Name.Name, where, code})
			}
		}
	}
	return out
}

// outputComment is the end of an Example.
var outputComment = regexp.MustCompile(`(?im)^\s*//\s*(unordered )?output:(.*\n?\s*//)*.*\s*\z`)

// tidy formats statements and takes the output comment away, so that two
// pieces of code that differ in layout only become equal.
func tidy(code string) (string, error) {
	code = outputComment.ReplaceAllString(code, "")
	out, err := format.Source([]byte(strings.TrimSpace(code)))
	return strings.TrimSpace(string(out)), err
}

// nearest returns "" if code is one of known, or which of them shares the most
// lines with it and where the two part.
func nearest(code string, known []body) string {
	var best body
	most := 0
	lines := strings.Split(code, "\n")
	for _, k := range known {
		if k.code == code {
			return ""
		}
		if n := shared(lines, strings.Split(k.code, "\n")); n > most {
			most, best = n, k
		}
	}
	if most == 0 {
		return " of the root module, nor near one"
	}
	theirs := strings.Split(best.code, "\n")
	i := 0
	for i < len(lines) && i < len(theirs) && lines[i] == theirs[i] {
		i++
	}
	return fmt.Sprintf("; the nearest is %s (%s): line %d is `%s` here and `%s` there", best.name, best.where, i+1, at(lines, i), at(theirs, i))
}

// at returns a line without its indentation, or "" beyond the end.
func at(lines []string, i int) string {
	if i < len(lines) {
		return strings.TrimSpace(lines[i])
	}
	return ""
}

// shared counts the lines of a that b has too, empty ones and lone braces left
// out.
func shared(a, b []string) int {
	have := map[string]bool{}
	for _, line := range b {
		have[strings.TrimSpace(line)] = true
	}
	n := 0
	for _, line := range a {
		if line = strings.TrimSpace(line); len(line) > 1 && have[line] {
			n++
		}
	}
	return n
}
