package debug

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the parts of the page
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

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

// nothing is the policy of what loads nothing and is shown in no frame.
const nothing = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// A page writes snapshots as HTML. The zero value is ready.
type page struct {
	once   sync.Once
	layout *template.Template
	policy string // lets through what is in the page, and that it asks for itself
}

// prepare makes the page ready, once for all requests.
func (p *page) prepare() {
	p.layout = template.Must(template.New("page").Funcs(template.FuncMap{
		"ago": ago, "clock": clock, "commas": commas, "id": url.PathEscape, "measured": measured, "rate": rate,
	}).Parse(layout))
	p.policy = nothing + "; connect-src 'self'; img-src data:; script-src " + hash(script) + "; style-src " + hash(style)
}

// write writes a snapshot, and the policy of the page.
func (p *page) write(body *bytes.Buffer, header http.Header, s snapshot) error {
	p.once.Do(p.prepare)
	header.Set("Content-Security-Policy", p.policy)
	return p.layout.Execute(body, struct {
		snapshot
		Style  template.CSS
		Script template.JS
	}{s, template.CSS(style), template.JS(script)})
}

// Changed is when the limit changed last.
func (l limiterStats) Changed() time.Time { return l.History[len(l.History)-1].Time }

// Latest is the history, the latest change first.
func (l limiterStats) Latest() []stint.LimitChange {
	latest := slices.Clone(l.History)
	slices.Reverse(latest)
	return latest
}

// hash is how a policy names a part of the page.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// ago is how long ago something was, in the two largest units.
func ago(then, now time.Time) string {
	s := int(max(0, now.Sub(then)).Seconds())
	switch m, h, d := s/60, s/3600, s/86400; {
	case d > 0:
		return fmt.Sprintf("%d d %d h", d, h%24)
	case h > 0:
		return fmt.Sprintf("%d h %d min", h, m%60)
	case m > 0:
		return fmt.Sprintf("%d min %d s", m, s%60)
	}
	return fmt.Sprintf("%d s", s)
}

// clock is when something was: to the millisecond, and with the day if that was not
// just now.
func clock(then, now time.Time) string {
	if now.Sub(then) > halfDay {
		return then.Format("Jan 2 15:04:05.000")
	}
	return then.Format("15:04:05.000")
}

// halfDay is how old a time is at most that is told without its day.
const halfDay = 12 * time.Hour

// commas puts commas between the thousands of a whole number. Other text stays.
func commas(text string) string {
	if strings.Trim(text, "0123456789") != "" {
		return text
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
