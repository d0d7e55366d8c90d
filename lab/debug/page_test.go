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

// Window widths.
const phone, desk = 390, 1280

// widths are those of other windows.
var widths = []int{320, 360, 430, 600, 740, 800, 1024, 1100, 2000}

// A program serves its state, and does some work for each request, so that the
// figures change.
type program struct {
	*httptest.Server
	broken atomic.Bool // respond with an error
}

// start starts a browser and a program to look at.
func start(t *testing.T) (*browser.Browser, *program) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	return browser.Start(t), run(t)
}

// run runs a program until the test ends. It has pools that work and wait,
// limiters with a short, a full and no history, and names of all sizes.
func run(t *testing.T) *program {
	p, h := new(program), new(debug.Handler)
	few := stint.Limit(2)
	mail, stuck := stint.NewPool(stint.Limit(4)), stint.NewPool(few, stint.Queue(10))
	release := make(chan struct{})
	for range 12 {
		stuck.Go(func(context.Context) { <-release })
	}
	h.AddPool("mail", mail)
	h.AddPool("thumbnails of all the pictures that somebody has put into the archive", stuck)
	h.AddPool("<b>", stint.NewPool())

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
	h.AddLimiter("mail", found)
	h.AddLimiter("set-by-hand-so-often-that-not-all-of-it-is-remembered", moved)
	h.AddLimiter("fixed", stint.Limit(1000))
	h.AddLimiter("new", stint.Auto(1, 10))
	h.AddLimiter("shared by a pool and by calls, with a name that does not fit into a column of a table", few)

	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mail.Go(func(context.Context) {})
		mail.Idle(r.Context())
		if p.broken.Load() {
			http.Error(w, "broken", http.StatusServiceUnavailable)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		p.Close()
		close(release)
		mail.Close()
		stuck.Close()
	})
	return p
}

// changed waits until the page shows another number of finished tasks, and
// reports whether it was not reloaded.
const changed = `new Promise((done) => {
	const ended = () => document.querySelector('[id="pool/mail"] [data-name=completed]').textContent;
	const before = ended(), main = document.querySelector("main");
	new MutationObserver(() => ended() !== before && done(main.isConnected))
		.observe(document.body, { subtree: true, childList: true, characterData: true });
})`

// noted waits until the note is shown or hidden, and returns its text.
func noted(p *browser.Page, hidden bool) string {
	return browser.Eval[string](p, fmt.Sprintf(`new Promise((done) => {
		const note = document.getElementById("note");
		const look = () => note.hidden === %v && done(note.textContent);
		new MutationObserver(look).observe(note, { attributes: true });
		look();
	})`, hidden))
}

func TestPageInABrowser(t *testing.T) {
	b, program := start(t)
	url := program.URL + "/a/prefix/stint?for=browser"
	for _, scheme := range []browser.Scheme{browser.Light, browser.Dark} {
		for _, width := range []int{phone, desk} {
			t.Run(fmt.Sprint(scheme, width), func(t *testing.T) {
				p := b.Open(t, url, scheme, width)
				check := func(state string) {
					for _, f := range p.Faults() {
						t.Errorf("%s: %s", state, f)
					}
				}
				check("folded")
				p.OpenDetails()
				check("unfolded")
				browser.Eval[bool](p, `document.querySelector("summary").focus(), true`)
				if !browser.Eval[bool](p, changed) {
					t.Error("another main has come into the place of the first")
				}
				if !browser.Eval[bool](p, `document.activeElement === document.querySelector("summary")`) {
					t.Error("the page has lost its focus")
				}
				if n := browser.Eval[int](p, `document.querySelectorAll("details:not([open])").length`); n > 0 {
					t.Errorf("%d lists that were open are folded", n)
				}
				check("after a change")
				if got := p.Messages(); len(got) > 0 {
					t.Errorf("messages %q", got)
				}
				requests := p.Requests()
				for _, r := range requests {
					if r != url {
						t.Errorf("a request to %s", r)
					}
				}
				if len(requests) < 2 {
					t.Errorf("requests %q, want the page at least twice", requests)
				}
			})
		}
	}
}

// The page fits into windows of all widths, also when it has drawn tasks per second.
func TestPageFits(t *testing.T) {
	b, program := start(t)
	for _, width := range widths {
		p := b.Open(t, program.URL, browser.Light, width)
		browser.Eval[bool](p, `new Promise((done) => {
			const look = () => document.querySelector(".pools .spark") && done(true);
			new MutationObserver(look).observe(document.body, { subtree: true, childList: true });
			look();
		})`)
		if browser.Eval[int](p, `document.querySelectorAll(".chart .line.pace").length`) == 0 {
			t.Errorf("%d wide: no chart shows a throughput", width)
		}
		p.OpenDetails()
		for _, f := range p.Faults() {
			t.Errorf("%d wide: %s", width, f)
		}
	}
}

// A list that is open and focused stays so when an entry appears or disappears
// before it.
func TestPageKeepsWhatIsOpen(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	h, moved := new(debug.Handler), stint.Auto(1, 10)
	moved.Set(5)
	h.AddLimiter("mail", moved)
	program := httptest.NewServer(h)
	defer program.Close()
	p := browser.Start(t).Open(t, program.URL, browser.Light, desk)
	browser.Eval[bool](p, `(() => {
		window.list = document.getElementById("limiter/mail/history");
		list.open = true;
		list.querySelector("summary").focus();
		return true;
	})()`)
	shown := func(id string, there bool) {
		t.Helper()
		browser.Eval[bool](p, fmt.Sprintf(`new Promise((done) => {
			const look = () => (document.getElementById(%q) !== null) === %v && done(true);
			new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
			look();
		})`, id, there))
		if !browser.Eval[bool](p, `list.isConnected && list.open && document.activeElement === list.querySelector("summary")`) {
			t.Errorf("%s is shown: %v; the list is gone, folded or without its focus", id, there)
		}
		if got := browser.Eval[int](p, `document.querySelectorAll("main article").length`); got != strings.Count(body(h), "<article") {
			t.Errorf("%s is shown: %v; %d limiters are", id, there, got)
		}
	}
	remove := h.AddLimiter("aaa", moved)
	shown("limiter/aaa", true)
	behind := h.AddLimiter("zzz", moved)
	shown("limiter/zzz", true)
	remove()
	shown("limiter/aaa", false)
	remove = h.AddPool("first", stint.NewPool())
	shown("pool/first", true)
	remove()
	shown("pool/first", false)
	behind()
	shown("limiter/zzz", false)
}

// body returns the page as sent.
func body(h *debug.Handler) string {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/?format=html", nil))
	return w.Body.String()
}

// When its program does not answer, the page says so, and since when.
func TestPageWithoutAProgram(t *testing.T) {
	b, program := start(t)
	p := b.Open(t, program.URL, browser.Dark, phone)
	program.broken.Store(true)
	text := noted(p, false)
	if at := browser.Eval[string](p, `document.getElementById("taken").textContent`); text != "No answer (status 503). What you see is as of "+at+"." {
		t.Errorf("the note is %q, the figures are as of %s", text, at)
	}
	for _, f := range p.Faults() {
		t.Error(f)
	}
	program.broken.Store(false)
	noted(p, true)
	program.Close()
	if text := noted(p, false); !strings.HasPrefix(text, "No answer (") {
		t.Errorf("the note is %q", text)
	}
}

// A hidden page sends no requests until it is shown again. The test takes over
// its timers, so that it does not depend on time.
func TestPageRestsWhileHidden(t *testing.T) {
	b, program := start(t)
	p := b.Open(t, program.URL, browser.Light, desk)
	const planned = `new Promise((done) => { window.setTimeout = (f) => { window.plan = f; done(true); }; })`
	browser.Eval[bool](p, planned) // after the scheduled request
	const asked = `(() => {
		let asked = 0;
		const fetch = window.fetch;
		window.fetch = (...all) => { asked++; return fetch(...all); };
		Object.defineProperty(document, "hidden", { value: true, configurable: true });
		window.plan();
		document.dispatchEvent(new Event("visibilitychange"));
		window.fetch = fetch;
		return asked;
	})()`
	if n := browser.Eval[int](p, asked); n != 0 {
		t.Errorf("%d requests of a hidden page", n)
	}
	before := len(p.Requests())
	browser.Eval[bool](p, `(() => {
		const next = `+planned+`;
		Object.defineProperty(document, "hidden", { value: false });
		document.dispatchEvent(new Event("visibilitychange"));
		return next;
	})()`)
	if n := len(p.Requests()); n != before+1 {
		t.Errorf("%d requests when it is shown again, want one", n-before)
	}
}
