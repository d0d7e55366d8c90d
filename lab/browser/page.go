package browser

import (
	"context"
	_ "embed" // for the layout checks
	"fmt"
	"os"
	"slices"
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
	messages []string
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
		text := "exception: " + e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		p.messages = append(p.messages, text)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			p.messages = append(p.messages, fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	}
}

// Messages returns the console's errors and warnings so far.
func (p *Page) Messages() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.messages)
}

// Requests returns the requested addresses so far. The first is the page's own.
func (p *Page) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Eval evaluates an expression in the page and returns its value, awaiting a
// promise.
func Eval[T any](p *Page, expression string) T {
	p.t.Helper()
	return do(p, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// OpenDetails opens all details elements.
func (p *Page) OpenDetails() {
	p.t.Helper()
	Eval[int](p, `[...document.querySelectorAll("details")].map(d => d.open = true).length`)
}

//go:embed faults.js
var faults string

// Faults checks the current layout and describes each fault: content wider than
// the window, overlapping or clipped text, drawings without a size, name or
// table, dead links, and low contrast.
func (p *Page) Faults() []string {
	p.t.Helper()
	return Eval[[]string](p, faults)
}

// Save writes a screenshot of the first element that matches the selector.
func (p *Page) Save(file, selector string) {
	p.t.Helper()
	if err := os.WriteFile(file, do(p, chromedp.Screenshot(chromedp.CSS(selector))), 0o666); err != nil {
		p.t.Fatal(err)
	}
}
