package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"strings"
	"unicode"

	"github.com/stint-go/stint/lab/draw"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	renderer "github.com/yuin/goldmark/renderer/html"
)

//go:embed page.css
var style string

// Page returns an HTML page of the sections with the curves drawn. It needs no network, and has a light and a dark theme.
func (r *Report) Page() (string, error) {
	drawn := *r
	drawn.page = true
	text, err := drawn.Markdown()
	if err != nil {
		return "", err
	}
	md := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithUnsafe())) // the drawings are ours
	var body bytes.Buffer
	err = md.Convert([]byte(text), &body, parser.WithContext(parser.NewContext(parser.WithIDs(slugs{}))))
	theme := fmt.Sprintf(":root { color-scheme: light dark; %s }\n@media (prefers-color-scheme: dark) { :root { %s } }\n", draw.Light.Variables(), draw.Dark.Variables())
	scroll := strings.NewReplacer("<table>", `<div class="scroll"><table>`, "</table>", "</table></div>")
	return fmt.Sprintf("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"+
		"<title>stint: benchmarks in %s</title>\n<style>\n%s%s</style>\n</head>\n<body>\n<main>\n<h1>Benchmarks</h1>\n%s</main>\n</body>\n</html>\n",
		html.EscapeString(r.Name), theme, style, scroll.Replace(body.String())), err
}

// slugs are the identifiers of headings.
type slugs struct{}

func (slugs) Generate(text []byte, _ ast.NodeKind) []byte { return []byte(Slug(string(text))) }
func (slugs) Put([]byte)                                  {}

// Slug returns the identifier of a heading, as GitHub makes it.
func Slug(heading string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case unicode.IsLetter(c), unicode.IsDigit(c), c == '-', c == '_':
			return unicode.ToLower(c)
		case c == ' ':
			return '-'
		}
		return -1
	}, heading)
}
