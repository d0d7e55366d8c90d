package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/stint-go/stint"
)

// A crawler crawls sites. All of them share its limiter.
type crawler struct {
	client  http.Client
	limiter *stint.Limiter
	deepest uint
}

// A site is crawled once.
type site struct {
	start   *url.URL
	client  http.Client // stays on the site
	deepest uint
	group   *stint.Group
	host    string // of the first answer; set by the task of the start, the only one then

	mu    sync.Mutex
	pages map[string]*page // by address; each of them has a task, or had one
}

// A page is an address of the site.
type page struct {
	address string
	depth   uint     // over how many links it was reached, at the least
	done    bool     // whether its task has set what follows
	err     error    // why it is broken
	links   []string // addresses of the same host, each once
	from    []string // addresses of the pages that link here; set after the crawl
}

// crawl returns the pages that were asked for: site by site, in the order of their
// addresses. If ctx ends before all were, it returns those that are done, and the
// cause. The task of a site waits for those of its pages, on the same limiter: they
// run in its place, and in those that are free.
func (c *crawler) crawl(ctx context.Context, starts []*url.URL) ([]*page, error) {
	var sites []*site
	for _, start := range starts {
		s := &site{start: start, client: c.client, deepest: c.deepest, pages: map[string]*page{}}
		s.client.CheckRedirect = s.stay
		sites = append(sites, s)
	}
	err := stint.Each(ctx, sites, func(ctx context.Context, s *site) error {
		s.group = stint.NewGroup(ctx, c.limiter)
		s.group.Go(func(ctx context.Context) error { return s.reach(ctx, address(s.start), 0) })
		return s.group.Wait()
	}, c.limiter)

	var done []*page
	for _, s := range sites { // now the pages are nobody else's
		done = append(done, s.done()...)
	}
	return done, err
}

// done returns the pages that are, each with those that link to it.
func (s *site) done() []*page {
	var done []*page
	for _, name := range slices.Sorted(maps.Keys(s.pages)) {
		p := s.pages[name]
		if p.done {
			done = append(done, p)
		}
		for _, link := range p.links {
			if to := s.pages[link]; to != nil {
				to.from = append(to.from, p.address)
			}
		}
	}
	return done
}

// reach starts a task for a page that is new. The way to one that is not may be
// shorter than those before: then its links are reached again, so that what is
// found does not depend on which page answered first.
func (s *site) reach(ctx context.Context, address string, depth uint) error {
	s.mu.Lock()
	p, known := s.pages[address]
	if !known {
		p = &page{address: address, depth: depth}
		s.pages[address] = p
	}
	shorter := depth < p.depth
	p.depth = min(p.depth, depth)
	links := p.links
	s.mu.Unlock() // GoContext may wait

	switch {
	case !known:
		return s.group.GoContext(ctx, func(ctx context.Context) error { return s.visit(ctx, p) })
	case shorter:
		return s.follow(ctx, links, depth)
	}
	return nil
}

// follow reaches the links of a page, unless that is too deep.
func (s *site) follow(ctx context.Context, links []string, depth uint) error {
	if depth == s.deepest {
		return nil
	}
	for _, link := range links {
		if err := s.reach(ctx, link, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// visit is the task of a page. It fails only when the crawl is cut short.
func (s *site) visit(ctx context.Context, p *page) error {
	links, err := s.fetch(ctx, p.address)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	p.done, p.links, p.err = true, links, err
	depth := p.depth
	s.mu.Unlock()
	return s.follow(ctx, links, depth)
}

// fetch asks for a page and returns its links.
func (s *site) fetch(ctx context.Context, address string) ([]string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := s.client.Do(req)
	if e, ok := errors.AsType[*url.Error](err); ok {
		return nil, e.Err // the report has the address
	}
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if s.host == "" {
		s.host = resp.Request.URL.Host
	}
	switch {
	case resp.StatusCode != http.StatusOK:
		return nil, errors.New(resp.Status)
	case !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html"):
		return nil, nil
	}
	text, err := io.ReadAll(http.MaxBytesReader(nil, resp.Body, 4<<20))
	return links(s.host, resp.Request.URL, string(text)), err
}

// stay refuses a redirect to another host, except of the first page: where that one
// leads to is the site.
func (s *site) stay(req *http.Request, via []*http.Request) error {
	switch {
	case s.host != "" && req.URL.Host != s.host:
		return fmt.Errorf("redirected to %v", req.URL)
	case len(via) == 10:
		return errors.New("redirected 10 times")
	}
	return nil
}

// links returns the links of a page to a host, sorted, each once. What stands in
// href="..." is one, in any tag and in comments too; other quotes are not seen.
// A program that means it uses golang.org/x/net/html.
func links(host string, base *url.URL, text string) []string {
	var found []string
	for {
		_, text, _ = strings.Cut(text, `href="`)
		href, rest, ok := strings.Cut(text, `"`)
		if !ok {
			slices.Sort(found)
			return slices.Compact(found)
		}
		text, href = rest, html.UnescapeString(href)
		to, err := base.Parse(href)
		if err != nil {
			found = append(found, href) // fetch will say what is wrong with it
		} else if to.Host == host {
			found = append(found, address(to))
		}
	}
}

// address returns what a page goes by: its URL without a fragment.
func address(u *url.URL) string {
	page := *u
	page.Fragment, page.RawFragment = "", ""
	if page.Path == "" {
		page.Path = "/"
	}
	return page.String()
}
