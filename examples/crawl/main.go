// Command crawl follows the links of sites and lists their pages, broken ones
// with the pages that link to them. Without a URL it crawls a small built-in
// site.
//
//	go run ./examples/crawl [URL...]
//
// It shows tasks that start tasks under a shared limiter. Each site is a task with a group
// for its pages. The task of a page calls GoContext with its own context for each new page
// that it links to. One limiter bounds the requests to all sites. A broken page is a
// result: an error of its task would end the crawl.
//
// The exit status is 0 if all pages are good, 1 if a page is broken or the
// crawl was interrupted, and 2 for a wrong command line.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stint-go/stint"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, errUsage):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "crawl:", err)
		os.Exit(1)
	}
}

// errUsage is returned after the error has been printed to stderr.
var errUsage = errors.New("wrong command line")

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := &crawler{limiter: stint.Auto(1, 32)}
	flags := flag.NewFlagSet("crawl [flags] [URL...]", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.UintVar(&c.deepest, "depth", 10, "follow `n` links from the first page of a site")
	flags.DurationVar(&c.client.Timeout, "timeout", 10*time.Second, "timeout of a page; 0 is none")
	flags.Func("limit", "request up to `n` pages concurrently, of all sites together (default adaptive, up to 32)", func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return errors.New("want 1 or more")
		}
		c.limiter = stint.Limit(n)
		return nil
	})
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return errUsage
	}

	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 32 // there are few hosts; the default keeps 2 connections each
	defer transport.CloseIdleConnections()
	c.client.Transport = transport
	if flags.NArg() > 0 {
		return c.report(ctx, flags.Args(), stdout)
	}
	return withSite(func(address string) error { return c.report(ctx, []string{address}, stdout) })
}

// report crawls the sites at addresses and prints their pages in that order.
// After an interrupt it prints the finished pages.
func (c *crawler) report(ctx context.Context, addresses []string, w io.Writer) error {
	var starts []*url.URL
	for _, address := range addresses {
		start, err := url.Parse(address)
		if err != nil || start.Host == "" || start.Scheme != "http" && start.Scheme != "https" {
			return fmt.Errorf("%q: want a URL as https://example.org", address)
		}
		starts = append(starts, start)
	}
	pages, interrupted := c.crawl(ctx, starts)
	var lines strings.Builder
	broken := 0
	for _, p := range pages {
		if p.err == nil {
			fmt.Fprintln(&lines, "ok    ", printable(p.address))
			continue
		}
		broken++
		fmt.Fprintf(&lines, "broken %s: %s\n", printable(p.address), printable(p.err.Error()))
		for _, from := range p.from {
			fmt.Fprintln(&lines, "       linked from", printable(from))
		}
	}
	var err error
	if broken > 0 {
		err = fmt.Errorf("%d of %d pages broken", broken, len(pages))
	}
	_, unwritten := io.WriteString(w, lines.String())
	return errors.Join(err, interrupted, unwritten)
}

// printable returns text in one line without control characters, since pages
// and servers may send anything.
func printable(text string) string {
	if utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return text
	}
	return strconv.Quote(text)
}

//go:embed site
var builtin embed.FS

// withSite calls f with the address of the built-in site, which it serves
// meanwhile.
func withSite(f func(address string) error) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: http.FileServerFS(builtin)}
	g := stint.NewGroup(context.Background()) // Close ends it; it must outlast f
	g.Go(func(context.Context) error { return server.Serve(listener) })
	err = f(fmt.Sprintf("http://%v/site/", listener.Addr()))
	server.Close()
	if served := g.Wait(); !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
