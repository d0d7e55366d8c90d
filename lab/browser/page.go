package browser

import (
	"context"
	_ "embed" // for the layout checks
	"fmt"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A Page is an open page.
type Page struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	messages []string // the console's errors and warnings
	requests []string
}

// do runs a step and fails the test on error.
func do[T any](p *Page, step chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, stepTimeout)
	defer cancel()
	v, err := chromedp.Run(ctx, step)
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

// onEvent records console messages and network requests.
func (p *Page) onEvent(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			text := fmt.Sprintf("%s:", e.Type)
			for _, arg := range e.Args {
				text += " " + string(arg.Value) + arg.Description
			}
			p.messages = append(p.messages, text)
		}
	case *runtime.EventExceptionThrown:
		p.messages = append(p.messages, (&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			p.messages = append(p.messages, fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	}
}

// Requests returns the number of requests so far. The first is for the page.
func (p *Page) Requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.requests)
}

// Eval evaluates an expression in the page and returns its value, awaiting a
// promise.
func Eval[T any](p *Page, expression string) T {
	p.t.Helper()
	return do(p, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Wait waits until a change of the page makes an expression true. It is not
// Poll of the library, which a page's security policy may refuse.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	Eval[bool](p, `new Promise((done) => {
		const look = () => (`+expression+`) && done(true);
		new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
		look();
	})`)
}

// OpenDetails opens all details elements.
func (p *Page) OpenDetails() {
	p.t.Helper()
	Eval[int](p, `[...document.querySelectorAll("details")].map(d => d.open = true).length`)
}

//go:embed faults.js
var faults string

// Faults describes each fault of the page in its present state: content wider
// than the window, overlapping or clipped text, drawings without a size, name
// or table, dead links, low contrast; errors and warnings on the console; and
// requests to addresses other than its own.
func (p *Page) Faults() []string {
	p.t.Helper()
	found := Eval[[]string](p, faults)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, address := range p.requests {
		if address != p.requests[0] {
			found = append(found, "a request to "+address)
		}
	}
	return append(found, p.messages...)
}

// Check fails the test for each fault. The state says when it is.
func (p *Page) Check(state string) {
	p.t.Helper()
	for _, f := range p.Faults() {
		p.t.Errorf("%s: %s", state, f)
	}
}
