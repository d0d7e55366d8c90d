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

// loadNothing is a content security policy: load nothing, be in no frame.
const loadNothing = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// A page writes snapshots as HTML. The zero value is ready.
type page struct {
	once   sync.Once
	layout *template.Template
	policy string // allows the parts of the page, and requests for itself
}

// prepare is called once, before the first request.
func (p *page) prepare() {
	p.layout = template.Must(template.New("page").Funcs(template.FuncMap{
		"ago": ago, "clock": clock, "commas": commas, "id": url.PathEscape, "perSecond": perSecond,
	}).Parse(layout))
	p.policy = loadNothing + "; connect-src 'self'; img-src data:; script-src " + hash(script) + "; style-src " + hash(style)
}

// write writes a snapshot, and sets the policy of the page.
func (p *page) write(body *bytes.Buffer, header http.Header, s snapshot) error {
	p.once.Do(p.prepare)
	header.Set("Content-Security-Policy", p.policy)
	return p.layout.Execute(body, struct {
		snapshot
		Style  template.CSS
		Script template.JS
	}{s, template.CSS(style), template.JS(script)})
}

// Changed returns when the limit changed last.
func (l limiterStats) Changed() time.Time { return l.History[len(l.History)-1].Time }

// Latest returns the history, the latest change first.
func (l limiterStats) Latest() []stint.LimitChange {
	latest := slices.Clone(l.History)
	slices.Reverse(latest)
	return latest
}

// hash returns the name of a part of the page in a policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// ago formats the time since then, in the two largest units.
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

// clock formats a time to the millisecond, with the day if it is more than halfDay ago.
func clock(then, now time.Time) string {
	if now.Sub(then) > halfDay {
		return then.Format("Jan 2 15:04:05.000")
	}
	return then.Format("15:04:05.000")
}

const halfDay = 12 * time.Hour

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
