package debug_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/debug"
)

// ask sends a request to h; accept is the header Accept, if it is not empty.
func ask(h *debug.Handler, method, target, accept string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// body returns the answer of h in a format.
func body(h *debug.Handler, format string) string {
	return ask(h, "GET", "/?format="+format, "").Body.String()
}

// A state is the decoded JSON.
type state struct {
	Time  time.Time
	Pools map[string]struct {
		stint.PoolStats
		Limiter    string
		Throughput *float64
	}
	Limiters map[string]stint.LimiterStats
}

// read returns the state of h, and refuses members that are not documented.
func read(t *testing.T, h *debug.Handler) (s state) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(body(h, "json")))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		t.Error(err)
	}
	return s
}

// busy returns a handler with a pool and a limiter in use: in the pool, one task is
// running, one is queued, and two have finished. They end with the bubble.
func busy(t *testing.T) *debug.Handler {
	pool := stint.NewPool(stint.Limit(1), stint.Queue(5), stint.Name("label"))
	release := make(chan struct{})
	for range 2 {
		pool.Go(func(context.Context) {})
	}
	for range 2 {
		pool.Go(func(context.Context) { <-release })
	}
	synctest.Wait()
	limiter := stint.Auto(1, 2000)
	limiter.Set(1234)
	t.Cleanup(func() { close(release); pool.Close() })
	h := new(debug.Handler)
	h.AddPool("mail", pool)
	h.AddLimiter("api", limiter)
	return h
}

func TestText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := busy(t)
		body(h, "text")
		time.Sleep(2 * time.Second)
		want := `
POOL  LIMIT  RUNNING  QUEUED  WAITING  WORKERS  IDLE  COMPLETED  FAILED  DROPPED  REFUSED  TASKS/S  LIMITER
mail  1      1        1       0        1        0     2          0       0        0        0        -

LIMITER  LIMIT  RUNNING  WAITING  COMPLETED  FAILED  WAITED  REFUSED  BACKOFFS  TASKS/S  PHASE  REASON
api      1234   0        0        0          0       0       0        0         -        fixed  set by hand
`
		if got := "\n" + body(h, "text"); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	})
}

func TestJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := busy(t)
		now := time.Now().Format(time.RFC3339Nano)
		want := `{
  "time": "` + now + `",
  "pools": {
    "mail": {
      "name": "label",
      "limit": 1,
      "running": 1,
      "queued": 1,
      "waiting": 0,
      "workers": 1,
      "idle": 0,
      "completed": 2,
      "failed": 0,
      "dropped": 0,
      "refused": 0
    }
  },
  "limiters": {
    "api": {
      "limit": 1234,
      "running": 0,
      "waiting": 0,
      "completed": 0,
      "failed": 0,
      "waited": 0,
      "refused": 0,
      "backoffs": 0,
      "phase": "fixed",
      "reason": "set by hand",
      "history": [
        {
          "time": "` + now + `",
          "limit": 1234,
          "reason": "set by hand"
        }
      ]
    }
  }
}
`
		if got := body(h, "json"); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
		time.Sleep(time.Second)
		if got := read(t, h).Pools["mail"].Throughput; got == nil || *got != 0 {
			t.Errorf("throughput of a second in which nothing ended: %v, want 0", got)
		}
	})
}

func TestHTML(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := busy(t)
		time.Sleep(2*time.Minute + 5*time.Second)
		text := body(h, "html")
		for _, want := range []string{
			`<th scope="row" role="rowheader">mail</th>`, `data-name="queued">1</td>`, `data-name="tasks/s">-</td>`,
			`>api</h3>`, `<dt>limit</dt><dd>1,234</dd>`, `<dd>fixed</dd>`, "<dd>set by hand</dd>",
			`<svg class="chart" role="img"`, ">limit 1,234</text>", ">now</text>", "limit 1,234: set by hand</title>", `<td role="cell">1,234</td>`,
			`href="?format=text"`, `href="?format=json"`, "<noscript>",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not on the page", want)
			}
		}
		if t.Failed() {
			t.Log(text)
		}
	})
}

// A pool is shown with the limiter that it was made with, by the name of that in the Handler,
// and with its throughput over time.
func TestPoolWithItsLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(3)
		with, without := stint.NewPool(l), stint.NewPool()
		defer with.Close()
		defer without.Close()
		h := new(debug.Handler)
		h.AddPool("with", with)
		h.AddPool("without", without)
		h.AddLimiter("2nd", l)
		remove := h.AddLimiter("1st", l)
		got := func(name string) string { return read(t, h).Pools[name].Limiter }
		if got("with") != "1st" || got("without") != "" {
			t.Errorf("got %q and %q, want 1st and none", got("with"), got("without"))
		}
		remove()
		if got("with") != "2nd" {
			t.Errorf("got %q, want 2nd", got("with"))
		}
		for range 4 {
			for range 30 {
				with.Go(func(context.Context) {})
			}
			with.Idle(context.Background())
			time.Sleep(time.Second)
			body(h, "html")
		}
		for range 200 { // no more samples than are kept
			time.Sleep(time.Second)
			body(h, "json")
		}
		with.Go(func(context.Context) {})
		time.Sleep(time.Second)
		if page := body(h, "html"); strings.Count(page, `>at most 1 in 2m0s</span>`) != 2 {
			t.Errorf("the page lacks the throughput over time:\n%s", page)
		}
	})
}

// The text that Prometheus reads. The laboratory parses it with the parser of Prometheus.
func TestPrometheus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := busy(t)
		h.AddLimiter("a \"b\" \\ \n\x00", stint.Limit(3))
		h.AddPool(`a\x00b`, stint.NewPool(stint.Limit(64)))
		got := body(h, "prometheus")
		for _, want := range []string{
			"# HELP stint_pool_limit stint.PoolStats.Limit\n# TYPE stint_pool_limit gauge\nstint_pool_limit{pool=\"a\\\\x00b\"} 64\nstint_pool_limit{pool=\"mail\"} 1\n",
			"# TYPE stint_pool_completed_total counter\nstint_pool_completed_total{pool=\"a\\\\x00b\"} 0\nstint_pool_completed_total{pool=\"mail\"} 2\n",
			"# TYPE stint_limiter_limit gauge\nstint_limiter_limit{limiter=\"a \\\"b\\\" \\\\ \\n\u2400\"} 3\nstint_limiter_limit{limiter=\"api\"} 1234\n",
			"# TYPE stint_limiter_backoffs_total counter\n",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is not in the answer", want)
			}
		}
		if n := strings.Count(got, "# TYPE "); n != 18 || strings.Count(got, "# HELP ") != n || strings.Count(got, "\n") != 2*n+2*10+2*8 {
			t.Errorf("%d families:\n%s", n, got)
		}
	})
	if got := body(new(debug.Handler), "prometheus"); got != "" {
		t.Errorf("nothing was added, and the answer is %q", got)
	}
}

// The page loads nothing and links to nothing but itself.
func TestPageNeedsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := body(busy(t), "html")
		for _, bad := range []string{" src=", "@import", "url(", "<iframe", `="/`, "://", " style=", "onclick"} {
			if strings.Contains(text, bad) {
				t.Errorf("%q on the page", bad)
			}
		}
		for _, m := range regexp.MustCompile(`<(?:link|a)[^>]*href="([^"]*)"`).FindAllStringSubmatch(text, -1) {
			if m[1] != "data:," && !strings.HasPrefix(m[1], "?format=") {
				t.Errorf("a link to %q", m[1])
			}
		}
	})
}

func TestNothingAdded(t *testing.T) {
	h := new(debug.Handler)
	for format, wants := range map[string][]string{
		"text": {"Nothing was added yet.", "Handler.AddPool", "Handler.AddLimiter"},
		"html": {"Nothing was added yet.", "handler.AddPool(", "handler.AddLimiter("},
		"json": {`"pools": {}`, `"limiters": {}`},
	} {
		for _, want := range wants {
			if text := body(h, format); !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in %s", format, want, text)
			}
		}
	}
}

func TestFormats(t *testing.T) {
	const text, html, json = "text/plain; charset=utf-8", "text/html; charset=utf-8", "application/json; charset=utf-8"
	const prometheus = "text/plain; version=0.0.4; charset=utf-8"
	h := new(debug.Handler)
	for _, c := range []struct{ target, accept, want string }{
		{"/", "", text},
		{"/", "*/*", text}, // curl
		{"/", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", html}, // a browser
		{"/", "application/json", json},
		{"/", "application/json, text/plain, */*", json},
		{"/", "APPLICATION/JSON", json},
		{"/", "image/png", text},
		{"/", ";;;", text},
		{"/", "text/plain", text},
		{"/", "text/plain;version=1.0.0", prometheus},
		{"/", "text/plain;version=0.0.4", prometheus},
		{"/", "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", prometheus}, // Prometheus 2
		{"/", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6," +
			"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3," +
			"text/plain;version=0.0.4;q=0.2,*/*;q=0.1", prometheus}, // Prometheus 3
		{"/?format=prometheus", "text/html", prometheus},
		{"/?format=text", "text/plain;version=0.0.4", text},
		{"/?format=text", "text/html", text},
		{"/?format=html", "application/json", html},
		{"/?format=json", "text/html", json},
		{"/a/prefix/that/is/long/?x=1&format=json", "", json},
		{"/a/prefix", "text/html", html},
	} {
		w := ask(h, "GET", c.target, c.accept)
		if got := w.Header().Get("Content-Type"); w.Code != http.StatusOK || got != c.want {
			t.Errorf("GET %s, Accept %q: %d %q, want %q", c.target, c.accept, w.Code, got, c.want)
		}
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.Header["Accept"] = []string{"image/png", "text/html"}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if got := w.Header().Get("Content-Type"); got != html {
		t.Errorf("of two headers Accept: %q, want %q", got, html)
	}
}

func TestRefusals(t *testing.T) {
	h := new(debug.Handler)
	for _, c := range []struct {
		method, target string
		code           int
		text           string
	}{
		{"GET", "/?format=xml", 400, `unknown format "xml": want html, json, text or prometheus`},
		{"GET", "/?format=", 400, `unknown format "": want html, json, text or prometheus`},
		{"GET", "/?format=%3Cb%3E", 400, `unknown format "<b>": want html, json, text or prometheus`},
		{"POST", "/", 405, "POST is not allowed: only GET and HEAD are"},
		{"OPTIONS", "/?format=xml", 405, "OPTIONS is not allowed: only GET and HEAD are"},
		{"DELETE", "/", 405, "DELETE is not allowed: only GET and HEAD are"},
	} {
		w := ask(h, c.method, c.target, "text/html")
		if got := w.Body.String(); w.Code != c.code || got != c.text+"\n" {
			t.Errorf("%s %s: %d %q, want %d %q", c.method, c.target, w.Code, got, c.code, c.text)
		}
		if got := w.Header().Get("Content-Type"); got != "text/plain; charset=utf-8" {
			t.Errorf("%s %s: %s", c.method, c.target, got)
		}
		allow := ""
		if c.code == 405 {
			allow = "GET, HEAD"
		}
		if got := w.Header().Get("Allow"); got != allow {
			t.Errorf("%s %s: Allow is %q, want %q", c.method, c.target, got, allow)
		}
	}
}

func TestHeaders(t *testing.T) {
	h := new(debug.Handler)
	for _, target := range []string{"/?format=html", "/?format=json", "/?format=text", "/?format=xml"} {
		header := ask(h, "GET", target, "").Header()
		for name, want := range map[string]string{"Cache-Control": "no-store", "Vary": "Accept", "X-Content-Type-Options": "nosniff"} {
			if got := header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", target, name, got, want)
			}
		}
		policy := header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", target, policy)
		}
	}
}

// The policy allows the script and the style of the page and no other: by their hash.
func TestPolicyIsThatOfThePage(t *testing.T) {
	w := ask(new(debug.Handler), "GET", "/?format=html", "")
	policy := w.Header().Get("Content-Security-Policy")
	for _, element := range []string{"script", "style"} {
		parts := regexp.MustCompile("(?s)<"+element+">(.*?)</"+element+">").FindAllStringSubmatch(w.Body.String(), -1)
		if len(parts) != 1 {
			t.Fatalf("%d elements %s, want 1", len(parts), element)
		}
		sum := sha256.Sum256([]byte(parts[0][1]))
		want := "; " + element + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		if !strings.Contains(policy+";", want+";") {
			t.Errorf("%s: %q is not in the policy %q", element, want, policy)
		}
	}
}

func TestHead(t *testing.T) {
	server := httptest.NewServer(new(debug.Handler))
	defer server.Close()
	for _, format := range []string{"json", "html", "text"} {
		get, err := http.Get(server.URL + "/?format=" + format)
		if err != nil {
			t.Fatal(err)
		}
		get.Body.Close()
		head, err := http.Head(server.URL + "/?format=" + format)
		if err != nil {
			t.Fatal(err)
		}
		head.Body.Close()
		if head.StatusCode != 200 || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") || head.ContentLength < 1 {
			t.Errorf("%s: %d, %v of length %d; a GET has %v", format, head.StatusCode, head.Header, head.ContentLength, get.Header)
		}
	}
	if w := ask(new(debug.Handler), "HEAD", "/", ""); w.Body.Len() > 0 {
		t.Errorf("HEAD writes %q", w.Body)
	}
}

// Names are text, in every format.
func TestNamesAreText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, name := range []string{"<b>", `"quoted" 'twice'`, "two words", "a&amp;b", "</script><script>", "line\nbreak", "\x1b[31mred", "\ufffd", "größer", "{{.}}", "%2F?#"} {
			h := new(debug.Handler)
			limiter := stint.Auto(1, 2)
			limiter.Set(2)
			h.AddPool(name, stint.NewPool())
			h.AddLimiter(name, limiter)
			text := body(h, "text")
			if !utf8.ValidString(text) || strings.Contains(text, "\x1b") || strings.Count(text, "\n") != 2+1+2 {
				t.Errorf("%q: text %q", name, text)
			}
			if s := read(t, h); s.Pools[name].Limit == 0 || s.Limiters[name].Limit != 2 {
				t.Errorf("%q: JSON %+v", name, s)
			}
			page := body(h, "html")
			if strings.Contains(page, "<b>") || strings.Count(page, "<script>") != 1 || strings.Contains(page, "ZgotmplZ") {
				t.Errorf("%q: page %s", name, page)
			}
			ids := map[string]bool{}
			for _, m := range regexp.MustCompile(` (id|aria-labelledby)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
				switch {
				case m[1] == "id" && (ids[m[2]] || strings.ContainsAny(m[2], " \n")):
					t.Errorf("%q: the id %q is there already, or has a space", name, m[2])
				case m[1] == "id":
					ids[m[2]] = true
				}
				for id := range strings.FieldsSeq(m[2]) {
					if !strings.Contains(page, ` id="`+id+`"`) {
						t.Errorf("%q: nothing has the id %q", name, id)
					}
				}
			}
		}
	})
}

// Different names have different ids.
func TestIDsDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := new(debug.Handler)
		for _, name := range []string{"a", "a/name", "a-name", "/", "taken", "pools", "A"} {
			limiter := stint.Auto(1, 2)
			limiter.Set(2)
			h.AddPool(name, stint.NewPool())
			h.AddLimiter(name, limiter)
		}
		ids := map[string]bool{}
		for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(body(h, "html"), -1) {
			if ids[m[1]] {
				t.Errorf("two elements have the id %s", m[1])
			}
			ids[m[1]] = true
		}
		if len(ids) < 7*5 {
			t.Errorf("%d ids, want one for each pool and four for each limiter at least", len(ids))
		}
	})
}

func TestThroughput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := stint.NewPool(stint.Limit(1))
		defer pool.Close()
		h := new(debug.Handler)
		h.AddPool("p", pool)
		ended := func(tasks int) {
			for range tasks {
				pool.Go(func(context.Context) {})
			}
			pool.Idle(context.Background())
		}
		at := func(after time.Duration, want string) {
			t.Helper()
			time.Sleep(after)
			got := "none"
			if x := read(t, h).Pools["p"].Throughput; x != nil {
				got = fmt.Sprint(*x)
			}
			if got != want {
				t.Errorf("throughput %s, want %s", got, want)
			}
		}
		ended(100) // before anybody looked
		at(0, "none")
		ended(10)
		at(time.Second/2-1, "none")
		at(1, "20")
		ended(10)
		at(time.Second/4, "20") // too soon
		at(time.Second/4, "20")
		at(time.Hour, "0")
		ended(7200)
		at(time.Hour, "2")
	})
}

func TestBadArguments(t *testing.T) {
	h := new(debug.Handler)
	h.AddPool("p", stint.NewPool())
	h.AddLimiter("l", stint.Limit(1))
	for want, f := range map[string]func(){
		"debug: Handler.AddPool: nil pool":                              func() { h.AddPool("x", nil) },
		"debug: Handler.AddPool: empty name":                            func() { h.AddPool("", stint.NewPool()) },
		`debug: Handler.AddPool("p"): the name is taken`:                func() { h.AddPool("p", stint.NewPool()) },
		`debug: Handler.AddPool("a\xff"): want valid UTF-8`:             func() { h.AddPool("a\xff", stint.NewPool()) },
		`debug: Handler.AddLimiter("a\xff"): want valid UTF-8`:          func() { h.AddLimiter("a\xff", stint.Limit(1)) },
		"stint: Pool.Stats: Pool was not made by NewPool":               func() { h.AddPool("x", new(stint.Pool)) },
		"debug: Handler.AddLimiter: nil limiter":                        func() { h.AddLimiter("x", nil) },
		"debug: Handler.AddLimiter: empty name":                         func() { h.AddLimiter("", stint.Limit(1)) },
		`debug: Handler.AddLimiter("l"): the name is taken`:             func() { h.AddLimiter("l", stint.Limit(1)) },
		"stint: Limiter.Current: Limiter was not made by Limit or Auto": func() { h.AddLimiter("x", new(stint.Limiter)) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic with %v, want %q", got, want)
				}
			}()
			f()
		}()
	}
	h.AddPool("l", stint.NewPool()) // a limiter has that name, and no pool
	h.AddLimiter("p", stint.Limit(1))
	if s := read(t, h); len(s.Pools) != 2 || len(s.Limiters) != 2 {
		t.Errorf("%+v: want two of each", s)
	}
}

func TestRemove(t *testing.T) {
	h := new(debug.Handler)
	pool, limiter := stint.NewPool(), stint.Limit(3)
	first, second := h.AddPool("x", pool), h.AddLimiter("x", limiter)
	count := func(pools, limiters int) {
		t.Helper()
		if s := read(t, h); len(s.Pools) != pools || len(s.Limiters) != limiters {
			t.Errorf("%d pools and %d limiters, want %d and %d", len(s.Pools), len(s.Limiters), pools, limiters)
		}
	}
	count(1, 1)
	first()
	count(0, 1)
	first()
	second()
	count(0, 0)
	again, over := h.AddPool("x", pool), h.AddLimiter("x", limiter)
	first() // knows only what it has added
	second()
	count(1, 1)
	again()
	over()
	count(0, 0)
}

// A handler answers while pools are added, removed and used.
func TestConcurrentUse(t *testing.T) {
	h := new(debug.Handler)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 8 {
				pool, limiter := stint.NewPool(stint.Limit(2)), stint.Auto(1, 10)
				name := fmt.Sprint("p", i)
				gone, away := h.AddPool(name, pool), h.AddLimiter(name, limiter)
				pool.Go(func(context.Context) {})
				limiter.Set(n + 1)
				for _, format := range []string{"text", "html", "json"} {
					if text := body(h, format); !strings.Contains(text, name) {
						t.Errorf("%s is not in %s", name, text)
					}
				}
				pool.Close()
				if s := read(t, h); s.Pools[name].Completed != 1 || s.Limiters[name].Limit != n+1 {
					t.Errorf("%s: %+v", name, s)
				}
				gone()
				away()
			}
		})
	}
	wg.Wait()
	if s := read(t, h); len(s.Pools)+len(s.Limiters) != 0 {
		t.Errorf("%+v: want nothing", s)
	}
}
