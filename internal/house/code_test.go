package house

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/format"
	"go/token"
	"path"
	"regexp"
	"slices"
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

func TestCodeInTextsIsCompiled(t *testing.T) {
	in := func(text, code string) map[string]string {
		return map[string]string{
			text:       "# stint\n\n" + fence + "go\n" + code + fence + "\n\n" + fence + "sh\nls\n" + fence + "\n",
			"par/a.go": "package par\n\n// T is one.\ntype T struct{ a int }\n",
			"par/a_test.go": "package par_test\n\nfunc ExampleF() {\n\t// First.\n\tif a := f(); a {\n\t\tg(a)\n\t}\n\n\th()\n\n\t// Output:\n\t// 1\n}\n" +
				"\nfunc ExampleG() {\n\tx()\n\t// Unordered output: 1\n}\n" +
				"\nfunc TestF(t *testing.T) {\n\tf(t)\n}\n",
			"lab/go.mod":    "",
			"lab/b_test.go": "package lab\n\nfunc ExampleErrgroup() {\n\tz()\n\t// Output:\n}\n\nfunc ExampleConc() {\n\tsilent()\n}\n",
			"lab/c_test.go": "package lab\n\nfunc help() {}\n\nfunc ExampleOnly() {\n\tonly()\n\t// Output:\n}\n",
			"cmd/go.mod":    "",
			"cmd/c_test.go": "package cmd\n\nfunc ExampleC() {\n\tc()\n\t// Output:\n}\n",

			"cluster/embedded/go.mod":    "",
			"cluster/embedded/d_test.go": "package embedded\n\nfunc ExampleD() {\n\td()\n\t// Output:\n}\n",
		}
	}
	verify(t, codeInTexts,
		sample{"same", in("README.md", "// First.\nif a := f(); a {\n\tg(a)\n}\n\nh()\n"), ""},
		sample{"spaces", in("README.md", "// First.\nif a := f(); a {\n    g( a )\n}\n\n\n\nh()\n"), ""},
		sample{"output", in("README.md", "x()\n// Output: 1\n"), ""},
		sample{"test", in("README.md", "func TestF(t *testing.T) {\n\tf(t)\n}\n"), ""},
		sample{"type", in("docs/a.md", "type T struct{ a int }\n"), ""},
		sample{"type with its comment", in("ARCHITECTURE.md", "// T is one.\ntype T struct{ a int }\n"), ""},
		sample{"cluster in the readme", in("README.md", "d()\n"), ""},
		sample{"cluster in docs", in("docs/a.md", "d()\n"), ""},
		sample{"lab in docs", in("docs/a.md", "z()\n"), ""},
		sample{"only Example of its file", in("docs/a.md", "only()\n"), ""},
		sample{"lab in the architecture", in("ARCHITECTURE.md", "z()\n"), ""},
		sample{"lab in the readme", in("README.md", "z()\n"), "README.md:4: code that is no Example"},
		sample{"not run", in("docs/a.md", "silent()\n"), "docs/a.md:4: code that is no Example"},
		sample{"command", in("docs/a.md", "c()\n"), "docs/a.md:4: code that is no Example"},
		sample{"design", in("docs/design/0001-a.md", "y()\n"), ""},
		sample{"other", in("README.md", "// First.\nif a := f(); a {\n\tg(b)\n}\n\nh()\n"), "README.md:4: code that is no Example; the nearest is ExampleF (par/a_test.go:3): line 3 is `g(b)` here and `g(a)` there"},
		sample{"shorter", in("docs/a.md", "// First.\n"), "the nearest is ExampleF (par/a_test.go:3): line 2 is `` here"},
		sample{"other test", in("docs/a.md", "func TestF(t *testing.T) {\n\tg(t)\n}\n"), "docs/a.md:4: code that is no Example; the nearest is TestF (par/a_test.go:20): line 2 is `g(t)` here"},
		sample{"none", in("README.md", "y()\n"), "code that is no Example, nor near one"},
		sample{"program", in("README.md", "package main\n\nfunc main() {}\n"), "code that is no Example, nor near one"},
		sample{"nonsense", in("docs/a.md", "if {\n"), "docs/a.md:4: code that does not parse"},
	)
}

// codeInTexts checks that each Go block of the README, ARCHITECTURE.md and the
// manuals in docs is the body of an Example, or a whole declaration: what they
// show is compiled, and the output of an Example is checked.
func codeInTexts(t *tree) []string {
	library := t.code(released...)
	all := slices.Concat(library, t.code("lab"))
	var bad []string
	for _, f := range t.files {
		switch {
		case f.path == "README.md":
			bad = append(bad, f.strangers(library)...)
		case f.path == "ARCHITECTURE.md", f.dir() == "docs" && path.Ext(f.path) == ".md":
			bad = append(bad, f.strangers(all)...)
		}
	}
	return bad
}

// strangers returns the Go blocks of a Markdown file that are not among known.
func (f *file) strangers(known []code) []string {
	var bad []string
	for _, b := range blocks(f.text) {
		if b.lang != "go" {
			continue
		}
		text, err := tidy(b.text)
		if err != nil {
			bad = append(bad, f.on(b.line, "code that does not parse: %v", err))
		} else if what := nearest(text, known); what != "" {
			bad = append(bad, f.on(b.line, "code that is no Example%s; make the two the same", what))
		}
	}
	return bad
}

// A code is what a text may show: the body of an Example, or a declaration.
type code struct {
	name  string
	where string // file:line
	text  string
}

// code returns what texts may show of some modules: the bodies of the Examples that
// are run, and the declarations, each with its comment and without.
func (t *tree) code(modules ...string) []code {
	var out []code
	for _, f := range t.golang(func(f *file) bool { return slices.Contains(modules, t.module(f.path)) }) {
		add := func(name string, from, to token.Pos) {
			if text, err := tidy(f.text[f.offset(from):f.offset(to)]); err == nil {
				out = append(out, code{name, fmt.Sprintf("%s:%d", f.path, f.line(from)), text})
			}
		}
		for _, e := range doc.Examples(f.syntax) {
			d, ok := f.function("Example" + e.Name).(*ast.FuncDecl)
			if ok && (e.Output != "" || e.EmptyOutput) {
				add("Example"+e.Name, d.Body.Lbrace+1, d.Body.Rbrace)
			}
		}
		for _, d := range f.syntax.Decls {
			name, comment := declared(d)
			add(name, d.Pos(), d.End())
			if comment != nil {
				add(name, comment.Pos(), d.End())
			}
		}
	}
	return out
}

// declared returns the first name that d declares, and its comment.
func declared(d ast.Decl) (string, *ast.CommentGroup) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Name.Name, d.Doc
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				return s.Name.Name, d.Doc
			case *ast.ValueSpec:
				return s.Names[0].Name, d.Doc
			}
		}
		return d.Tok.String(), d.Doc
	}
	return "", nil
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

// nearest returns "" if text is one of known, or which of them shares the most
// lines with it and where the two part.
func nearest(text string, known []code) string {
	var best code
	most := 0
	lines := strings.Split(text, "\n")
	for _, k := range known {
		if k.text == text {
			return ""
		}
		if n := shared(lines, strings.Split(k.text, "\n")); n > most {
			most, best = n, k
		}
	}
	if most == 0 {
		return ", nor near one"
	}
	theirs := strings.Split(best.text, "\n")
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
