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

// links of each page; a page that is not here is not found.
type pages map[string][]string

// A server serves pages, and counts.
type server struct {
	pages pages
	wait  func(context.Context, string) // before a page is sent

	mu            sync.Mutex
	asked         map[string]int
	running, most int
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.asked == nil {
		s.asked = map[string]int{}
	}
	s.asked[r.URL.Path]++
	s.running++
	s.most = max(s.most, s.running)
	s.mu.Unlock()
	if s.wait != nil {
		s.wait(r.Context(), r.URL.Path)
	}
	// Before the client can know that the page has come, and ask for another.
	s.mu.Lock()
	s.running--
	s.mu.Unlock()

	links, ok := s.pages[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	for _, link := range links {
		fmt.Fprintf(w, "<a href=%q>link</a>\n", link)
	}
}

// once checks that these pages were asked for, once each, and no others.
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

// crawled crawls a server without a network, and returns the lines of the report.
func crawled(ctx context.Context, s *server, limit int, deepest uint) (string, error) {
	c := &crawler{client: http.Client{Transport: s, Timeout: time.Minute}, limiter: stint.Limit(limit), deepest: deepest}
	var out bytes.Buffer
	err := c.report(ctx, "http://site", &out)
	return strings.ReplaceAll(out.String(), "http://site", ""), err
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
	// The slow page comes last, when all that do not depend on it have been asked for.
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
	if s.most > 3 {
		t.Errorf("%d requests at once under a limit of 3", s.most)
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
	hub := pages{"/": nil}
	paths := []string{"/"}
	for i := range 30 {
		leaf := fmt.Sprint("/leaf", i)
		hub["/"] = append(hub["/"], leaf)
		hub[leaf] = []string{"/"}
		paths = append(paths, leaf)
	}
	for _, limit := range []int{1, 2, 5} {
		synctest.Test(t, func(t *testing.T) {
			s := &server{pages: hub, wait: func(context.Context, string) { time.Sleep(time.Second) }}
			start := time.Now()
			if _, err := crawled(t.Context(), s, limit, 10); err != nil {
				t.Error(err)
			}
			s.once(t, paths...)
			if s.most != limit {
				t.Errorf("%d requests at once under a limit of %d", s.most, limit)
			}
			if took, want := time.Since(start), time.Duration(1+30/limit)*time.Second; took != want {
				t.Errorf("limit %d: took %v, want %v", limit, took, want)
			}
		})
	}
}

// More links than the queue of a group holds, found by tasks that hold every
// place of its limiter.
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

// A page may be found on a long way first. What is in reach does not depend on that.
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

// An interrupt ends the requests that run, starts no others, and the report has
// what was done.
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
			case "/e": // on the last place: /f waits
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
	web.Close() // waits for what was asked
}

func TestUnwritable(t *testing.T) {
	s := &server{pages: pages{"/": nil}}
	c := &crawler{client: http.Client{Transport: s}, limiter: stint.Limit(1)}
	closed, w := io.Pipe()
	closed.Close()
	if err := c.report(t.Context(), "http://site", w); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v, want %v", err, io.ErrClosedPipe)
	}
}

func TestCommandLine(t *testing.T) {
	for _, test := range []struct {
		args   string
		err    string // of run
		stderr string // begins so
	}{
		{"-help", "", "Usage of crawl"},
		{"-limit 0 http://site", errUsage.Error(), `invalid value "0" for flag -limit: want 1 or more`},
		{"-limit many http://site", errUsage.Error(), `invalid value "many" for flag -limit: want 1 or more`},
		{"-depth -1 http://site", errUsage.Error(), `invalid value "-1" for flag -depth`},
		{"-fast http://site", errUsage.Error(), "flag provided but not defined: -fast"},
		{"http://site http://other", errUsage.Error(), "more than one URL"},
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
	} {
		if got := links("site", base, text); !slices.Equal(got, want) {
			t.Errorf("links of %s: %q, want %q", text, got, want)
		}
	}
}
