package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// pages maps each page to its links; others are not found.
type pages map[string][]string

// A server serves pages and counts requests.
type server struct {
	pages pages
	moved map[string]string             // redirects by path
	wait  func(context.Context, string) // before a page is sent

	mu            sync.Mutex
	asked         map[string]int
	running, peak int
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.asked == nil {
		s.asked = map[string]int{}
	}
	s.asked[r.URL.Path]++
	s.running++
	s.peak = max(s.peak, s.running)
	s.mu.Unlock()
	if s.wait != nil {
		s.wait(r.Context(), r.URL.Path)
	}
	// Before the client can receive the page and request another.
	s.mu.Lock()
	s.running--
	s.mu.Unlock()

	if to, ok := s.moved[r.URL.Path]; ok {
		http.Redirect(w, r, to, http.StatusFound)
		return
	}
	links, ok := s.pages[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	for _, link := range links {
		fmt.Fprintf(w, `<a href="%s">link</a>`, link)
	}
}

// once checks that exactly these pages were requested, once each.
func (s *server) once(t *testing.T, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(s.asked)); !slices.Equal(got, want) {
		t.Errorf("asked for %q, want %q", got, want)
	}
	for path, n := range s.asked {
		if n != 1 {
			t.Errorf("asked %d times for %s", n, path)
		}
	}
}

// RoundTrip makes a server a transport without a network, for bubbles.
func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

// hosts maps names to servers.
type hosts map[string]*server

func (h hosts) RoundTrip(r *http.Request) (*http.Response, error) { return h[r.URL.Host].RoundTrip(r) }

// crawled crawls sites without a network, and returns the lines of the report.
func crawled(ctx context.Context, web http.RoundTripper, limit int, deepest uint, starts ...string) (string, error) {
	c := &crawler{client: http.Client{Transport: web, Timeout: time.Minute}, limiter: stint.Limit(limit), deepest: deepest}
	var out bytes.Buffer
	if len(starts) == 0 {
		starts = []string{"http://site"}
	}
	err := c.report(ctx, starts, &out)
	return strings.ReplaceAll(out.String(), "http://site", ""), err
}

// A gauge counts concurrent calls.
type gauge struct {
	mu           sync.Mutex
	inside, peak int
}

// during calls f with the current count.
func (g *gauge) during(f func(inside int)) {
	g.mu.Lock()
	g.inside++
	inside := g.inside
	g.peak = max(g.peak, g.inside)
	g.mu.Unlock()
	f(inside)
	g.mu.Lock()
	g.inside--
	g.mu.Unlock()
}

func TestSite(t *testing.T) {
	s := &server{pages: pages{
		"/":       {"/a", "b", "/slow", "/missing", "https://elsewhere.invalid/"},
		"/a":      {"/", "/a", "/b#part", "/deep/c"},
		"/b":      {"/a", "/missing"},
		"/deep/c": {"d", "../b", "http://["},
		"/deep/d": {"/"},
		"/slow":   {"/after"},
		"/after":  nil,
	}}
	// The slow page comes last, after all pages that do not depend on it.
	var others sync.WaitGroup
	others.Add(6)
	s.wait = func(_ context.Context, path string) {
		switch path {
		case "/slow":
			others.Wait()
		case "/after":
		default:
			others.Done()
		}
	}
	web := httptest.NewServer(s)
	defer web.Close()

	var stdout, stderr bytes.Buffer
	err := run(t.Context(), []string{"-limit", "3", web.URL}, &stdout, &stderr)
	if want := "2 of 9 pages broken"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
	const want = `ok     /
ok     /a
ok     /after
ok     /b
ok     /deep/c
ok     /deep/d
broken /missing: 404 Not Found
       linked from /
       linked from /b
ok     /slow
broken http://[: parse "http://[": missing ']' in host
       linked from /deep/c
`
	if got := strings.ReplaceAll(stdout.String(), web.URL, ""); got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
	if stderr.Len() > 0 {
		t.Errorf("complained: %s", &stderr)
	}
	s.once(t, "/", "/a", "/after", "/b", "/deep/c", "/deep/d", "/missing", "/slow")
	if s.peak > 3 {
		t.Errorf("%d requests at once under a limit of 3", s.peak)
	}
}

func TestOwnSite(t *testing.T) {
	var stdout, stderr bytes.Buffer
	err := run(t.Context(), nil, &stdout, &stderr)
	if want := "1 of 5 pages broken"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
	var got []string
	for line := range strings.Lines(stdout.String()) {
		what, address, _ := strings.Cut(line, "http://")
		_, path, _ := strings.Cut(address, "/")
		got = append(got, strings.TrimSpace(what)+" "+strings.TrimSpace(path))
	}
	want := []string{
		"ok site/",
		"ok site/apples.html",
		"ok site/pears.html",
		"ok site/plums.html",
		"broken site/quinces.html: 404 Not Found",
		"linked from site/pears.html",
		"linked from site/plums.html",
	}
	if !slices.Equal(got, want) || stderr.Len() > 0 {
		t.Errorf("printed %q, want %q; complained %q", got, want, &stderr)
	}
}

func TestLimit(t *testing.T) {
	hub, paths := hub(30)
	for _, limit := range []int{1, 2, 5} {
		synctest.Test(t, func(t *testing.T) {
			s := &server{pages: hub, wait: func(context.Context, string) { time.Sleep(time.Second) }}
			start := time.Now()
			if _, err := crawled(t.Context(), s, limit, 10); err != nil {
				t.Error(err)
			}
			s.once(t, paths...)
			if s.peak != limit {
				t.Errorf("%d requests at once under a limit of %d", s.peak, limit)
			}
			if took, want := time.Since(start), time.Duration(1+30/limit)*time.Second; took != want {
				t.Errorf("limit %d: took %v, want %v", limit, took, want)
			}
		})
	}
}

// hub returns a start page that links to leaves, and all paths.
func hub(leaves int) (pages, []string) {
	p, paths := pages{"/": nil}, []string{"/"}
	for i := range leaves {
		leaf := fmt.Sprint("/leaf", i)
		p["/"] = append(p["/"], leaf)
		p[leaf] = []string{"/"}
		paths = append(paths, leaf)
	}
	return p, paths
}

// For any number of sites, exactly as many requests run concurrently as the
// limit allows.
func TestSitesShareALimit(t *testing.T) {
	for _, limit := range []int{1, 2, 3, 7} {
		synctest.Test(t, func(t *testing.T) {
			var g gauge
			p, paths := hub(30)
			web, starts := hosts{}, []string{}
			for _, host := range []string{"one", "two", "three"} {
				web[host] = &server{pages: p, wait: func(context.Context, string) {
					g.during(func(int) { time.Sleep(time.Second) })
				}}
				starts = append(starts, "http://"+host)
			}
			if _, err := crawled(t.Context(), web, limit, 10, starts...); err != nil {
				t.Error(err)
			}
			if g.peak != limit {
				t.Errorf("%d requests at once under a limit of %d", g.peak, limit)
			}
			for _, s := range web {
				s.once(t, paths...)
			}
		})
	}
}

// The same over the network: no leaf is sent before the limit is reached. The
// report is in the order of the arguments.
func TestSites(t *testing.T) {
	const limit = 3
	var g gauge
	reached := make(chan struct{})
	release := sync.OnceFunc(func() { close(reached) })
	wait := func(_ context.Context, path string) {
		g.during(func(inside int) {
			if inside >= limit {
				release()
			}
			if path != "/" {
				<-reached
			}
		})
	}
	p, paths := hub(4)
	slices.Sort(paths)
	var args, want []string
	var sites []*server
	for i, name := range []string{"-first-", "-second-"} {
		p := maps.Clone(p)
		p["/"] = append(slices.Clone(p["/"]), "/missing"+name)
		s := &server{pages: p, wait: wait}
		web := httptest.NewServer(s)
		defer web.Close()
		sites, args = append(sites, s), append(args, web.URL)
		for _, path := range paths {
			want = append(want, fmt.Sprint("ok     ", i, path))
		}
		want = append(want, fmt.Sprint("broken ", i, "/missing", name, ": 404 Not Found"), fmt.Sprint("       linked from ", i, "/"))
	}
	var stdout, stderr bytes.Buffer
	err := run(t.Context(), append([]string{"-limit", fmt.Sprint(limit)}, args...), &stdout, &stderr)
	if want := "2 of 12 pages broken"; err == nil || err.Error() != want || stderr.Len() > 0 {
		t.Errorf("error %v, want %q; complained %q", err, want, &stderr)
	}
	if got := strings.NewReplacer(args[0], "0", args[1], "1").Replace(stdout.String()); got != strings.Join(want, "\n")+"\n" {
		t.Errorf("printed\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if g.peak != limit {
		t.Errorf("%d requests at once under a limit of %d", g.peak, limit)
	}
	sites[0].once(t, append(paths, "/missing-first-")...)
	sites[1].once(t, append(paths, "/missing-second-")...)
}

// More links than a group's queue holds, found by tasks that hold every permit
// of its limiter.
func TestManyLinks(t *testing.T) {
	big := pages{"/": {"/0", "/1"}, "/0": nil, "/1": nil}
	want := []string{"/", "/0", "/1"}
	for i := range 1600 {
		leaf := fmt.Sprint("/leaf", i)
		big[leaf] = []string{"/"}
		big[fmt.Sprint("/", i%2)] = append(big[fmt.Sprint("/", i%2)], leaf)
		want = append(want, leaf)
	}
	for _, limit := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			s := &server{pages: big}
			if _, err := crawled(t.Context(), s, limit, 10); err != nil {
				t.Error(err)
			}
			s.once(t, want...)
		})
	}
}

// A page may first be found on a long path. The pages within reach do not
// depend on that.
func TestDepth(t *testing.T) {
	ways := pages{
		"/":       {"/long", "/short"},
		"/long":   {"/longer"},
		"/longer": {"/x"},
		"/short":  {"/x"},
		"/x":      {"/y"},
		"/y":      {"/z"},
		"/z":      nil,
	}
	want := map[uint][]string{
		0: {"/"},
		1: {"/", "/long", "/short"},
		2: {"/", "/long", "/longer", "/short", "/x"},
		3: {"/", "/long", "/longer", "/short", "/x", "/y"},
		4: {"/", "/long", "/longer", "/short", "/x", "/y", "/z"},
	}
	for _, slow := range []string{"/long", "/short"} {
		for deepest, want := range want {
			synctest.Test(t, func(t *testing.T) {
				s := &server{pages: ways, wait: func(_ context.Context, path string) {
					if path == slow {
						time.Sleep(time.Second)
					}
				}}
				got, err := crawled(t.Context(), s, 2, deepest)
				if wanted := "ok     " + strings.Join(want, "\nok     ") + "\n"; err != nil || got != wanted {
					t.Errorf("depth %d, %s slow: %v, printed\n%s\nwant\n%s", deepest, slow, err, got, wanted)
				}
				s.once(t, want...)
			})
		}
	}
}

// A redirect of the start determines the site. A redirect of another page away
// from it is that page's error.
func TestRedirects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		apex := &server{moved: map[string]string{"/": "http://www/"}}
		www := &server{
			pages: pages{"/": {"/in", "/out", "/round", "http://site/apex"}, "/here": {"/more"}, "/more": nil},
			moved: map[string]string{"/in": "/here", "/out": "//elsewhere/page", "/round": "/round"},
		}
		elsewhere := &server{}
		got, err := crawled(t.Context(), hosts{"site": apex, "www": www, "elsewhere": elsewhere}, 2, 10)
		if err == nil || err.Error() != "2 of 5 pages broken" {
			t.Error(err)
		}
		const want = `ok     /
ok     http://www/in
ok     http://www/more
broken http://www/out: redirected to http://elsewhere/page
       linked from /
broken http://www/round: redirected 10 times
       linked from /
`
		if got != want {
			t.Errorf("printed\n%s\nwant\n%s", got, want)
		}
		apex.once(t, "/")
		elsewhere.once(t)
		if n := www.asked["/round"]; n != 10 {
			t.Errorf("asked %d times for what leads to itself, want 10", n)
		}
	})
}

// A site's texts cannot forge lines of the report or send control characters.
func TestForgedLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{pages: pages{"/": {"http://[\nok     /forged", "/&#27;[31m", "/a?q=\u009b31m"}}}
		web := answers(func(r *http.Request) (*http.Response, error) {
			resp, err := s.RoundTrip(r)
			if resp.StatusCode == http.StatusNotFound {
				resp.Status = "404 \x1b[31m"
			}
			return resp, err
		})
		got, err := crawled(t.Context(), web, 1, 10)
		if err == nil || err.Error() != "3 of 4 pages broken" {
			t.Error(err)
		}
		const want = `broken "/\x1b[31m": parse "/\x1b[31m": net/url: invalid control character in URL
       linked from /
broken "http://[\nok     /forged": parse "http://[\nok     /forged": net/url: invalid control character in URL
       linked from /
ok     /
broken "/a?q=\u009b31m": "404 \x1b[31m"
       linked from /
`
		if got != want {
			t.Errorf("printed\n%s\nwant\n%s", got, want)
		}
	})
}

type answers func(*http.Request) (*http.Response, error)

func (f answers) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{pages: pages{"/": {"/never", "/a"}, "/never": nil, "/a": nil}}
		s.wait = func(ctx context.Context, path string) {
			if path == "/never" {
				<-ctx.Done()
			}
		}
		got, err := crawled(t.Context(), s, 1, 10)
		if err == nil || err.Error() != "1 of 3 pages broken" {
			t.Error(err)
		}
		if !strings.HasPrefix(got, "ok     /\nok     /a\nbroken /never: context deadline exceeded") || !strings.HasSuffix(got, "\n       linked from /\n") {
			t.Errorf("printed\n%s", got)
		}
	})
}

// An interrupt ends running requests and starts no others, and the report has
// the finished pages.
func TestInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		interrupt := errors.New("interrupt")
		ctx, cancel := context.WithCancelCause(t.Context())
		s := &server{pages: pages{"/": {"/a", "/b", "/c", "/d"}, "/a": {"/e", "/f"}}}
		s.wait = func(ctx context.Context, path string) {
			switch path {
			case "/b", "/c":
				<-ctx.Done()
			case "/a":
				time.Sleep(time.Second)
			case "/e": // on the last permit: /f waits
				cancel(interrupt)
				<-ctx.Done()
			}
		}
		got, err := crawled(ctx, s, 3, 10)
		if !errors.Is(err, interrupt) {
			t.Errorf("error %v, want %v", err, interrupt)
		}
		if want := "ok     /\nok     /a\nbroken /d: 404 Not Found\n       linked from /\n"; got != want {
			t.Errorf("printed\n%s\nwant\n%s", got, want)
		}
		s.once(t, "/", "/a", "/b", "/c", "/d", "/e")
		if s.running != 0 {
			t.Errorf("%d requests run after the crawl", s.running)
		}
	})
}

func TestInterruptedOverNetwork(t *testing.T) {
	interrupt := errors.New("interrupt")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := &server{pages: pages{"/": {"/a", "/b"}}}
	s.wait = func(asked context.Context, path string) {
		if path != "/" {
			cancel(interrupt)
			<-asked.Done() // the connection is closed
		}
	}
	web := httptest.NewServer(s)
	err := run(ctx, []string{"-timeout", "0", web.URL}, io.Discard, io.Discard)
	if !errors.Is(err, interrupt) {
		t.Errorf("error %v, want %v", err, interrupt)
	}
	web.Close() // waits for the requests
}

func TestUnwritable(t *testing.T) {
	s := &server{pages: pages{"/": nil}}
	c := &crawler{client: http.Client{Transport: s}, limiter: stint.Limit(1)}
	closed, w := io.Pipe()
	closed.Close()
	if err := c.report(t.Context(), []string{"http://site"}, w); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v, want %v", err, io.ErrClosedPipe)
	}
}

func TestCommandLine(t *testing.T) {
	for _, test := range []struct {
		args   string
		err    string // of run
		stderr string // prefix
	}{
		{"-help", "", "Usage of crawl"},
		{"-limit 0 http://site", errUsage.Error(), `invalid value "0" for flag -limit: want 1 or more`},
		{"-limit many http://site", errUsage.Error(), `invalid value "many" for flag -limit: want 1 or more`},
		{"-depth -1 http://site", errUsage.Error(), `invalid value "-1" for flag -depth`},
		{"-fast http://site", errUsage.Error(), "flag provided but not defined: -fast"},
		{"http://site other", `"other": want a URL as https://example.org`, ""},
		{"site", `"site": want a URL as https://example.org`, ""},
		{"ftp://site", `"ftp://site": want a URL as https://example.org`, ""},
		{"http://[", `"http://[": want a URL as https://example.org`, ""},
	} {
		var stdout, stderr bytes.Buffer
		err := run(t.Context(), strings.Fields(test.args), &stdout, &stderr)
		if err == nil {
			err = errors.New("")
		}
		if err.Error() != test.err || !strings.HasPrefix(stderr.String(), test.stderr) || stdout.Len() > 0 {
			t.Errorf("%s: error %q, want %q; printed %q; complained %q, want %q", test.args, err, test.err, &stdout, &stderr, test.stderr)
		}
	}
}

func TestLinks(t *testing.T) {
	base, err := url.Parse("http://site/dir/page?q=1")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{
		``:                                     nil,
		`<a href="b">`:                         {"http://site/dir/b"},
		`<a class="x" href="/b"><a href="/a">`: {"http://site/a", "http://site/b"},
		`<a href="/a"><a href="/a#part">`:      {"http://site/a"},
		`<a href="#part">`:                     {"http://site/dir/page?q=1"},
		`<a href="?q=2&amp;r=3">`:              {"http://site/dir/page?q=2&r=3"},
		`<a href="//site"><a href="/">`:        {"http://site/"},
		`<a href="https://site/a">`:            {"https://site/a"},
		`<a href="http://other/a">`:            nil,
		`<a href="mailto:ann@site">`:           nil,
		`<a href='/a'><a href=/b>`:             nil,
		`<!-- <a href="/a"> -->`:               {"http://site/a"},
		`<a href="/a`:                          nil,
		`<a href="/%zz">`:                      {"/%zz"},
		`<a href="/&#10;">`:                    {"/\n"},
	} {
		if got := links("site", base, text); !slices.Equal(got, want) {
			t.Errorf("links of %s: %q, want %q", text, got, want)
		}
	}
}
