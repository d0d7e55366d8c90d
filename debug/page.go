package debug

import (
	"crypto/sha256"
	_ "embed" // for the parts of the page
	"encoding/base64"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/stint-go/stint"
)

// The parts of the page.
var (
	//go:embed page.html
	layout string
	//go:embed page.css
	style string
	//go:embed page.js
	script string
)

// loadNothing is a content security policy: load nothing, be in no frame.
const loadNothing = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// page writes s as HTML, and sets the policy of the page: it may have its parts, and ask for
// itself. The layout is parsed for each request: a page asks once a second.
func (s snapshot) page(body io.Writer, header http.Header) error {
	header.Set("Content-Security-Policy", loadNothing+"; connect-src 'self'; img-src data:; script-src "+hash(script)+"; style-src "+hash(style))
	functions := template.FuncMap{
		"backward": slices.Backward[[]stint.LimitChange], "commas": commas, "id": url.PathEscape, "measured": measured,
	}
	return template.Must(template.New("page").Funcs(functions).Parse(layout)).Execute(body, s)
}

// Style is the style sheet of the page.
func (s snapshot) Style() template.CSS { return template.CSS(style) }

// Script is the script of the page.
func (s snapshot) Script() template.JS { return template.JS(script) }

// hash returns the name of a part of the page in a policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// commas puts commas between the thousands of a whole number, and returns other text as it is.
func commas(text string) string {
	if strings.Trim(text, "0123456789") != "" {
		return text
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
