package browser

import (
	"context"
	_ "embed" // for the script that looks for faults
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

// A Page is one that is open.
type Page struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	messages []string
	requests []string
}

// do runs steps one after the other; a failure ends the test.
func (p *Page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}

// hear notes what the page complains of and asks the network for.
func (p *Page) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			p.messages = append(p.messages, said(e))
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

// said is what a call of the console has written.
func said(e *runtime.EventConsoleAPICalled) string {
	text := fmt.Sprintf("%s:", e.Type)
	for _, arg := range e.Args {
		text += " " + string(arg.Value) + arg.Description
	}
	return text
}

// Messages are the errors and warnings on the console, so far.
func (p *Page) Messages() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.messages)
}

// Requests are the addresses that were asked for, so far: the page's own is the
// first.
func (p *Page) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Eval evaluates an expression in a page and returns its value, or what it
// promises.
func Eval[T any](p *Page, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%.80s: %v", expression, err)
	}
	return v
}

// Unfold opens all that can be folded.
func (p *Page) Unfold() {
	p.t.Helper()
	Eval[int](p, `[...document.querySelectorAll("details")].map(d => d.open = true).length`)
}

//go:embed faults.js
var faults string

// Faults looks at the page as it is laid out now and says what a reader would
// stumble on: what is wider than the window, text that is over other text or
// beyond its drawing, drawings without a size, a name or a table, links that
// lead nowhere, and text that is hard to tell from its ground.
func (p *Page) Faults() []string {
	p.t.Helper()
	return Eval[[]string](p, faults)
}

// Save writes a picture of the element that a selector finds first.
func (p *Page) Save(file, selector string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.Screenshot(chromedp.CSS(selector)))
	if err == nil {
		err = os.WriteFile(file, png, 0o666)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}
