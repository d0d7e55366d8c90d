// Package browser opens pages in a real browser, for tests: in a light and a
// dark scheme, as wide as a desk or a telephone. A test that needs one skips
// where none is installed.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// A Scheme is the colour scheme that a reader prefers.
type Scheme string

// The schemes.
const (
	Light Scheme = "light"
	Dark  Scheme = "dark"
)

// names are those that Chromium and its relatives are installed as.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless-shell"}

// ErrMissing says that no browser is installed.
var ErrMissing = errors.New("no browser is installed: neither Chromium nor Chrome")

// Path finds a browser, or returns ErrMissing.
func Path() (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrMissing
}

// patience is how long a step may take on a machine that is busy.
const patience = 2 * time.Minute

// A Browser is one that runs until its test ends, without a window.
type Browser struct{ ctx context.Context }

// Start starts a browser with a profile of its own, or skips the test where
// none is installed.
func Start(t testing.TB) *Browser {
	t.Helper()
	path, err := Path()
	if err != nil {
		t.Skip(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.NoSandbox, // the pages are our own, and a container has no room for one
		chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true),
		chromedp.WSURLReadTimeout(patience),
	)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	var heard complaints
	t.Cleanup(func() { heard.tell(t) })
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithErrorf(heard.add))
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("%s does not start: %v", path, err)
	}
	return &Browser{ctx}
}

// complaints are what the library says of the browser. Most of it is about events
// that are newer than the library, so that it is told only where a test fails.
type complaints struct {
	mu    sync.Mutex
	lines []string
}

func (c *complaints) add(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, fmt.Sprintf(format, args...))
}

func (c *complaints) tell(t testing.TB) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, line := range c.lines {
		if t.Failed() {
			t.Log(line)
		}
	}
}

// Open opens a page in a window of that width and waits until it is there. A step
// that fails ends the test, and the end of the test closes the page.
func (b *Browser) Open(t testing.TB, url string, scheme Scheme, width int) *Page {
	t.Helper()
	p := &Page{t: t}
	var cancel context.CancelFunc
	p.ctx, cancel = chromedp.NewContext(b.ctx, chromedp.WithListener(p.hear))
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
	p.do(prefer, chromedp.EmulateViewport(int64(width), 900), chromedp.Navigate(url))
	return p
}

// Open opens a page in a browser of its own: see Start.
func Open(t testing.TB, url string, scheme Scheme, width int) *Page {
	t.Helper()
	return Start(t).Open(t, url, scheme, width)
}
