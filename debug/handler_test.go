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

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/debug"
	"github.com/stint-go/stint/internal/testkit"
)

// ask sends a request to h, with a header Accept.
func ask(h *debug.Handler, method, target, accept string) *httptest.ResponseRecorder {
	r, w := httptest.NewRequest(method, target, nil), httptest.NewRecorder()
	r.Header.Set("Accept", accept)
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
		Throughput any // a number, or nil
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

// The members are those that package stint documents, and limiter and throughput of a pool.
func TestJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := busy(t)
		s := read(t, h)
		mail := stint.PoolStats{Name: "label", Limit: 1, Running: 1, Queued: 1, Workers: 1, Completed: 2}
		if got := s.Pools["mail"]; !s.Time.Equal(time.Now()) || len(s.Pools) != 1 || got.PoolStats != mail || got.Throughput != nil {
			t.Errorf("at %v: pools %+v, want mail with %+v", s.Time, s.Pools, mail)
		}
		api := s.Limiters["api"]
		if len(s.Limiters) != 1 || api.Limit != 1234 || api.Phase != "fixed" || api.Reason != "set by hand" || len(api.History) != 1 {
			t.Errorf("limiters %+v", s.Limiters)
		}
		if got := body(new(debug.Handler), "json"); !strings.Contains(got, "\"pools\": {},\n  \"limiters\": {}\n") {
			t.Errorf("without pools and limiters: %s", got)
		}
	})
}

// The page has what was added, says how to add, and loads nothing but itself.
func TestHTML(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := busy(t)
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
		for _, bad := range []string{" src=", "@import", "url(", "<iframe", `="/`, "://", " style=", "onclick"} {
			if strings.Contains(text, bad) {
				t.Errorf("%q on the page", bad)
			}
		}
	})
	for format, want := range map[string]string{"text": "call Handler.AddPool and Handler.AddLimiter", "html": "handler.AddLimiter("} {
		if text := body(new(debug.Handler), format); !strings.Contains(text, "Nothing was added yet.") || !strings.Contains(text, want) {
			t.Errorf("%s: %q is not in %s", format, want, text)
		}
	}
}

// A pool is shown with the limiter that it was made with, by the name of that in the Handler.
func TestPoolWithItsLimiter(t *testing.T) {
	l := stint.Limit(3)
	h := new(debug.Handler)
	h.AddPool("with", stint.NewPool(l))
	h.AddPool("without", stint.NewPool())
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
}

func TestFormats(t *testing.T) {
	const text, html, json = "text/plain; charset=utf-8", "text/html; charset=utf-8", "application/json; charset=utf-8"
	const prometheus = "text/plain; version=0.0.4; charset=utf-8"
	h := new(debug.Handler)
	for _, c := range []struct{ target, accept, want string }{
		{"/", "", text},
		{"/", "*/*", text}, // curl
		{"/", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", html}, // a browser
		{"/", "application/json, text/plain, */*", json},
		{"/", "APPLICATION/JSON", json},
		{"/", "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", prometheus}, // Prometheus 2
		{"/", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6," +
			"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3," +
			"text/plain;version=0.0.4;q=0.2,*/*;q=0.1", prometheus}, // Prometheus 3
		{"/?format=prometheus", "text/html", prometheus},
		{"/?format=text", "text/plain;version=0.0.4", text},
		{"/?format=html", "application/json", html},
		{"/a/prefix/that/is/long/?x=1&format=json", "", json},
	} {
		w := ask(h, "GET", c.target, c.accept)
		if got := w.Header().Get("Content-Type"); w.Code != http.StatusOK || got != c.want {
			t.Errorf("GET %s, Accept %q: %d %q, want %q", c.target, c.accept, w.Code, got, c.want)
		}
	}
	if w := ask(h, "HEAD", "/", ""); w.Code != http.StatusOK || w.Body.Len() > 0 || w.Header().Get("Content-Length") == "" {
		t.Errorf("HEAD: %d %v, %d bytes", w.Code, w.Header(), w.Body.Len())
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		method, target string
		code           int
		allow, text    string
	}{
		{"GET", "/?format=%3Cb%3E", 400, "", `unknown format "<b>": want html, json, text or prometheus`},
		{"POST", "/", 405, "GET, HEAD", "POST is not allowed: only GET and HEAD are"},
	} {
		w := ask(new(debug.Handler), c.method, c.target, "text/html")
		header := w.Header()
		if w.Code != c.code || w.Body.String() != c.text+"\n" || header.Get("Allow") != c.allow || header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s %s: %d %v %s", c.method, c.target, w.Code, header, w.Body)
		}
	}
}

// The policy allows the script and the style of the page and no other: by their hash.
func TestHeaders(t *testing.T) {
	w := ask(new(debug.Handler), "GET", "/?format=html", "")
	header, policy := w.Header(), w.Header().Get("Content-Security-Policy")
	if header.Get("Cache-Control") != "no-store" || header.Get("Vary") != "Accept" || header.Get("X-Content-Type-Options") != "nosniff" ||
		!strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") {
		t.Errorf("headers %v", header)
	}
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

// Names are text in every format, and different names have different ids.
func TestNamesAreText(t *testing.T) {
	h := new(debug.Handler)
	names := []string{"<b>", `"quoted" 'twice'`, "two words", "a&amp;b", "</script><script>", "line\nbreak", "\x1b[31mred", "\ufffd", "größer", "{{.}}", "%2F?#", "a", "a/name", "a-name", "/", "pools", "A"}
	for _, name := range names {
		limiter := stint.Auto(1, 2)
		limiter.Set(2)
		h.AddPool(name, stint.NewPool())
		h.AddLimiter(name, limiter)
	}
	if text := body(h, "text"); strings.Contains(text, "\x1b") || strings.Count(text, "\n") != 2*len(names)+3 {
		t.Errorf("text %q", text)
	}
	for _, name := range names {
		if s := read(t, h); s.Pools[name].Limit == 0 || s.Limiters[name].Limit != 2 {
			t.Errorf("%q: JSON %+v", name, s)
		}
	}
	page := body(h, "html")
	if strings.Contains(page, "<b>") || strings.Count(page, "<script>") != 1 || strings.Contains(page, "ZgotmplZ") {
		t.Errorf("page %s", page)
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] || strings.ContainsAny(m[1], " \n") {
			t.Errorf("the id %q is there already, or has a space", m[1])
		}
		ids[m[1]] = true
	}
}

func TestThroughput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := stint.NewPool(stint.Limit(1))
		defer pool.Close()
		h := new(debug.Handler)
		h.AddPool("p", pool)
		for i, c := range []struct {
			tasks int
			after time.Duration
			want  string
		}{
			{100, 0, "<nil>"}, // before anybody looked
			{10, time.Second/2 - 1, "<nil>"},
			{0, 1, "20"},
			{10, time.Second / 4, "20"}, // too soon
			{0, time.Second / 4, "20"},
			{0, time.Hour, "0"},
			{7200, time.Hour, "2"},
		} {
			for range c.tasks {
				pool.Go(func(context.Context) {})
			}
			pool.Idle(context.Background())
			time.Sleep(c.after)
			if got := fmt.Sprint(read(t, h).Pools["p"].Throughput); got != c.want {
				t.Errorf("step %d: throughput %s, want %s", i, got, c.want)
			}
		}
	})
}

func TestBadArguments(t *testing.T) {
	h := new(debug.Handler)
	h.AddPool("p", stint.NewPool())
	h.AddLimiter("l", stint.Limit(1))
	for want, f := range map[string]func(){
		"debug: Handler.AddPool: nil pool":                              func() { h.AddPool("x", nil) },
		`debug: Handler.AddPool(""): want a name in UTF-8`:              func() { h.AddPool("", stint.NewPool()) },
		"stint: Pool.Stats: Pool was not made by NewPool":               func() { h.AddPool("x", new(stint.Pool)) },
		`debug: Handler.AddLimiter("a\xff"): want a name in UTF-8`:      func() { h.AddLimiter("a\xff", stint.Limit(1)) },
		`debug: Handler.AddLimiter("l"): the name is taken`:             func() { h.AddLimiter("l", stint.Limit(1)) },
		"stint: Limiter.Current: Limiter was not made by Limit or Auto": func() { h.AddLimiter("x", new(stint.Limiter)) },
	} {
		if got := testkit.Recovered(f); got != want {
			t.Errorf("panic with %v, want %q", got, want)
		}
	}
}

// A pool and a limiter may have the same name. remove knows only what it has added.
func TestRemove(t *testing.T) {
	h := new(debug.Handler)
	pool, limiter := stint.NewPool(), stint.Limit(3)
	first, second := h.AddPool("x", pool), h.AddLimiter("x", limiter)
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, "1 1"},
		{first, "0 1"},
		{first, "0 1"},
		{second, "0 0"},
		{func() { h.AddPool("x", pool); h.AddLimiter("x", limiter) }, "1 1"},
		{func() { first(); second() }, "1 1"},
	} {
		step.do()
		if s := read(t, h); fmt.Sprint(len(s.Pools), len(s.Limiters)) != step.want {
			t.Errorf("%+v, want %s", s, step.want)
		}
	}
}

// A handler answers while pools are added, removed and used.
func TestConcurrentUse(t *testing.T) {
	h := new(debug.Handler)
	var all sync.WaitGroup
	for _, format := range []string{"text", "html", "json", "prometheus"} {
		all.Go(func() {
			pool := stint.NewPool(stint.Limit(2))
			remove := h.AddPool(format, pool)
			pool.Go(func(context.Context) {})
			if text := body(h, format); !strings.Contains(text, format) {
				t.Errorf("%s is not in %s", format, text)
			}
			pool.Close()
			remove()
		})
	}
	all.Wait()
}
