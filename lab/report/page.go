package report

import (
	"bytes"
	_ "embed"
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

//go:embed page.html
var page string

// html returns a page of the sections with the curves drawn. It needs no network, and has a light and a dark theme.
func (r *Report) html() (string, error) {
	drawn := *r
	drawn.page = true
	md := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithUnsafe())) // the drawings are ours
	var body bytes.Buffer
	err := md.Convert([]byte(drawn.Markdown()), &body, parser.WithContext(parser.NewContext(parser.WithIDs(slugs{}))))
	parts := strings.NewReplacer("{{name}}", html.EscapeString(r.name), "{{colours}}", draw.Style(), "{{body}}", body.String())
	return parts.Replace(page), err
}

// slugs are the identifiers of headings.
type slugs struct{}

func (slugs) Generate(text []byte, _ ast.NodeKind) []byte { return []byte(slug(string(text))) }
func (slugs) Put([]byte)                                  {}

// slug returns the identifier of a heading, as GitHub makes it.
func slug(heading string) string {
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
