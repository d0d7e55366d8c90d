// Package browser opens pages in a real browser, for tests: in a light and a
// dark colour scheme, at any width. Tests skip if no browser is installed.
package browser

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// A Scheme is a reader's preferred colour scheme.
type Scheme string

// The schemes.
const (
	Light Scheme = "light"
	Dark  Scheme = "dark"
)

// stepTimeout bounds a step, with room for a busy machine.
const stepTimeout = 2 * time.Minute

// A Browser runs without a window until its test ends.
type Browser struct{ ctx context.Context }

// Start starts a browser with its own profile. It skips the test if none is
// installed.
func Start(t testing.TB) *Browser {
	t.Helper()
	ctx, cancel := chromedp.NewContext(context.Background(),
		chromedp.WithAllocatorOptions(
			chromedp.NoSandbox, // the pages are our own, and containers do not support the sandbox
			chromedp.DisableGPU,
			chromedp.Flag("disable-component-update", true),
		),
		chromedp.WithErrorf(func(string, ...any) {}), // mostly events newer than the library
	)
	t.Cleanup(cancel)
	err := chromedp.Do(ctx)
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("no browser is installed: neither Chromium nor Chrome")
	}
	if err != nil {
		t.Fatal(err)
	}
	return &Browser{ctx}
}

// Open opens a page in a window of the given width and waits until it has
// loaded. It fails the test on error. The page is closed when the test ends.
func (b *Browser) Open(t testing.TB, url string, scheme Scheme, width int) *Page {
	t.Helper()
	p := &Page{t: t}
	var cancel context.CancelFunc
	p.ctx, cancel = chromedp.NewContext(b.ctx, chromedp.WithListener(p.onEvent))
	t.Cleanup(cancel)
	if err := chromedp.Do(p.ctx); err != nil { // the tab lives as long as this context
		t.Fatal(err)
	}
	prefer := chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: string(scheme)}},
		})
		return err
	})
	do(p, chromedp.Steps(prefer, chromedp.EmulateViewport(int64(width), 900), chromedp.Navigate(url)))
	return p
}
