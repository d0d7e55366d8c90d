package debug_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/debug"
	"github.com/stint-go/stint/lab/browser"
)

// windows are the widths of windows by scheme.
var windows = map[browser.Scheme][]int{
	browser.Light: {320, 360, 390, 430, 600, 740, 800, 1024, 1100, 1280, 2000},
	browser.Dark:  {390, 1280},
}

// A program serves its state, and does some work for each request, so that the
// figures change.
type program struct {
	*httptest.Server
	state  debug.Handler
	broken atomic.Bool // respond with an error
}

// start starts a browser, and a program to look at until the test ends. It has
// pools that work and wait, limiters with a short, a full and no history, and
// names of all sizes.
func start(t *testing.T) (*browser.Browser, *program) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	p := new(program)
	few := stint.Limit(2)
	mail, stuck := stint.NewPool(stint.Limit(4)), stint.NewPool(few, stint.Queue(10))
	release := make(chan struct{})
	for range 12 {
		stuck.Go(func(context.Context) { <-release })
	}
	p.state.AddPool("mail", mail)
	p.state.AddPool("thumbnails of all the pictures that somebody has put into the archive", stuck)
	p.state.AddPool("<b>", stint.NewPool())

	found, moved := stint.Auto(1, 100), stint.Auto(1, 100_000)
	if err := stint.Range(t.Context(), 3000, func(context.Context, int) error {
		time.Sleep(time.Millisecond)
		return nil
	}, found); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		moved.Set(1 + i*i%7000)
	}
	p.state.AddLimiter("mail", found)
	p.state.AddLimiter("set-by-hand-so-often-that-not-all-of-it-is-remembered", moved)
	p.state.AddLimiter("fixed", stint.Limit(1000))
	p.state.AddLimiter("new", stint.Auto(1, 10))
	p.state.AddLimiter("shared by a pool and by calls, with a name that does not fit into a column of a table", few)

	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mail.Go(func(context.Context) {})
		mail.Idle(r.Context())
		if p.broken.Load() {
			http.Error(w, "broken", http.StatusServiceUnavailable)
			return
		}
		p.state.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		p.Close()
		close(release)
		mail.Close()
		stuck.Close()
	})
	return browser.Start(t), p
}

// changed waits until the page shows another number of finished tasks.
func changed(p *browser.Page) {
	const completed = `document.querySelector('[id="pool/mail"] [data-name=completed]').textContent`
	p.Wait(fmt.Sprintf("%s !== %q", completed, browser.Eval[string](p, completed)))
}

// The page has no fault in windows of all widths, whether its lists are open or
// not. A change leaves it as the reader has made it.
func TestPageInABrowser(t *testing.T) {
	b, program := start(t)
	for scheme, widths := range windows {
		for _, width := range widths {
			t.Run(fmt.Sprint(scheme, width), func(t *testing.T) {
				p := b.Open(t, program.URL+"/a/prefix/stint?for=browser", scheme, width)
				p.Check("folded")
				p.OpenDetails()
				p.Check("unfolded")
				browser.Eval[bool](p, `window.main = document.querySelector("main"), document.querySelector("summary").focus(), true`)
				changed(p)
				const kept = `main.isConnected && document.activeElement.matches("summary") && !document.querySelector("details:not([open])")`
				if !browser.Eval[bool](p, kept) {
					t.Error("a change has replaced all, taken the focus, or folded a list")
				}
				p.Check("after a change")
			})
		}
	}
}

// A list that is open and focused stays so when an entry appears or disappears
// before it.
func TestPageKeepsWhatIsOpen(t *testing.T) {
	b, program := start(t)
	p := b.Open(t, program.URL, browser.Light, 1280)
	before := browser.Eval[int](p, `(() => {
		window.list = document.getElementById("limiter/mail/history");
		list.open = true;
		list.querySelector("summary").focus();
		return document.querySelectorAll("main article").length;
	})()`)
	shown := func(id string, there bool, limiters int) {
		t.Helper()
		p.Wait(fmt.Sprintf("(document.getElementById(%q) !== null) === %v", id, there))
		if !browser.Eval[bool](p, `list.isConnected && list.open && document.activeElement === list.querySelector("summary")`) {
			t.Errorf("%s is shown: %v; the list is gone, folded or without its focus", id, there)
		}
		if got := browser.Eval[int](p, `document.querySelectorAll("main article").length`); got != before+limiters {
			t.Errorf("%s is shown: %v; %d limiters are, want %d", id, there, got, before+limiters)
		}
	}
	limiter := stint.Auto(1, 10)
	remove := program.state.AddLimiter("aaa", limiter)
	shown("limiter/aaa", true, 1)
	behind := program.state.AddLimiter("zzz", limiter)
	shown("limiter/zzz", true, 2)
	remove()
	shown("limiter/aaa", false, 1)
	remove = program.state.AddPool("first", stint.NewPool())
	shown("pool/first", true, 1)
	remove()
	shown("pool/first", false, 1)
	behind()
	shown("limiter/zzz", false, 0)
}

// When its program does not answer, the page says so, and since when.
func TestPageWithoutAProgram(t *testing.T) {
	const note = `document.getElementById("note")`
	b, program := start(t)
	p := b.Open(t, program.URL, browser.Dark, 390)
	program.broken.Store(true)
	p.Wait("!" + note + ".hidden")
	text, at := browser.Eval[string](p, note+".textContent"), browser.Eval[string](p, `document.getElementById("taken").textContent`)
	if text != "No answer (status 503). What you see is as of "+at+"." {
		t.Errorf("the note is %q, the figures are as of %s", text, at)
	}
	for _, f := range p.Faults() {
		if !strings.Contains(f, "503") { // which the browser logs
			t.Error(f)
		}
	}
	program.broken.Store(false)
	p.Wait(note + ".hidden")
	program.Close()
	p.Wait("!" + note + ".hidden")
	if text := browser.Eval[string](p, note+".textContent"); !strings.HasPrefix(text, "No answer (") {
		t.Errorf("the note is %q", text)
	}
}

// A hidden page sends no requests until it is shown again.
func TestPageRestsWhileHidden(t *testing.T) {
	const hide = `(() => {
		Object.defineProperty(document, "hidden", { value: %v, configurable: true });
		document.dispatchEvent(new Event("visibilitychange"));
		return true;
	})()`
	b, program := start(t)
	p := b.Open(t, program.URL, browser.Light, 1280)
	changed(p) // until no request is under way for a while
	browser.Eval[bool](p, fmt.Sprintf(hide, true))
	before := p.Requests()
	time.Sleep(1500 * time.Millisecond) // it sends one each second
	if n := p.Requests(); n != before {
		t.Errorf("%d requests of a hidden page", n-before)
	}
	browser.Eval[bool](p, fmt.Sprintf(hide, false))
	changed(p)
}
