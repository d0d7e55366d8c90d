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

// A crawler crawls sites under one limiter.
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
	host    string // of the first response; set by the first task, before there are others

	mu    sync.Mutex
	pages map[string]*page // by address; each has or had a task
}

// A page is an address of the site.
type page struct {
	address string
	depth   uint     // length of the shortest path found
	done    bool     // its task has set the fields below
	err     error    // why it is broken
	links   []string // addresses of the same host, without duplicates
	from    []string // pages that link here; set after the crawl
}

// crawl returns the requested pages, site by site, in the order of their
// addresses. If ctx ends early, it returns the finished pages and the cause.
// The task of a site waits for those of its pages under the same limiter, and
// lends them its permit.
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
	for _, s := range sites { // no other goroutine uses the pages now
		done = append(done, s.done()...)
	}
	return done, err
}

// done returns the finished pages, each with the pages that link to it.
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

// reach starts a task for a new page. If it finds a shorter path to a known
// page, it reaches that page's links again, so that the result does not depend
// on which page answered first.
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
	s.mu.Unlock() // GoContext may block

	switch {
	case !known:
		return s.group.GoContext(ctx, func(ctx context.Context) error { return s.visit(ctx, p) })
	case shorter:
		return s.follow(ctx, links, depth)
	}
	return nil
}

// follow reaches the links of a page, up to the maximum depth.
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

// visit is the task of a page. It fails only if the crawl is interrupted.
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

// fetch requests a page and returns its links.
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

// stay refuses redirects to another host, except from the first page, whose
// redirect determines the site.
func (s *site) stay(req *http.Request, via []*http.Request) error {
	switch {
	case s.host != "" && req.URL.Host != s.host:
		return fmt.Errorf("redirected to %v", req.URL)
	case len(via) == 10:
		return errors.New("redirected 10 times")
	}
	return nil
}

// links returns the links of a page to a host, sorted and without duplicates.
// It finds href="..." in any tag, also in comments, but no other quotes. A
// serious program uses golang.org/x/net/html.
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
			found = append(found, href) // fetch will report the error
		} else if to.Host == host {
			found = append(found, address(to))
		}
	}
}

// address returns the identity of a page: its URL without a fragment.
func address(u *url.URL) string {
	page := *u
	page.Fragment, page.RawFragment = "", ""
	if page.Path == "" {
		page.Path = "/"
	}
	return page.String()
}
