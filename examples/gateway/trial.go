package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/stint-go/stint"
)

// A trial sends requests to a gateway in front of a backend.
type trial struct {
	capacity int           // of the backend: requests at once
	service  time.Duration // of one of them
	rate     int           // requests sent per second
	warmup   time.Duration // requests sent in it are not counted
	length   time.Duration // after that
	patience time.Duration // of a client
	waiting  int           // requests that may wait in the gateway
}

// A count is what became of the requests.
type count struct {
	mu      sync.Mutex
	served  []time.Duration // how long each took, sorted after the trial
	refused int             // by the gateway
	lost    int             // given up by the client
	peak    int             // most requests in the backend at once
}

func (t trial) perSecond(n int) int { return int(float64(n)/t.length.Seconds() + 0.5) }

// quantile returns the time, in whole milliseconds, in which the given part of the served
// requests was served.
func (c *count) quantile(part float64) time.Duration {
	if len(c.served) == 0 {
		return 0
	}
	return c.served[int(part*float64(len(c.served)-1))].Round(time.Millisecond)
}

// run starts a backend and a gateway, sends requests, and stops both.
func (t trial) run(ctx context.Context, web network, limit *stint.Limiter) (*count, error) {
	connections := func() *http.Transport {
		return &http.Transport{DialContext: web.dial, MaxIdleConnsPerHost: t.rate} // the default keeps 2
	}
	inner, outer := connections(), connections()
	defer inner.CloseIdleConnections()
	defer outer.CloseIdleConnections()
	b, c := &backend{capacity: t.capacity, service: t.service}, new(count)
	err := serve(ctx, web, b, func(behind *url.URL) error {
		return serve(ctx, web, gateway(behind, inner, limit, t.waiting), func(front *url.URL) error {
			return t.load(ctx, &http.Client{Transport: outer}, front.String(), c)
		})
	})
	slices.Sort(c.served)
	c.peak = b.most()
	return c, err
}

// load sends requests at random times, whether or not others have been answered: clients
// that come from outside do not wait for each other.
func (t trial) load(ctx context.Context, client *http.Client, address string, c *count) error {
	random := rand.New(rand.NewPCG(1, 2))              // the same times in each trial
	clients := stint.NewGroup(ctx, stint.Limit(1<<20)) // Go must not block
	began := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for at := time.Duration(0); at < t.warmup+t.length && ctx.Err() == nil; {
		timer.Reset(time.Until(began.Add(at)))
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		to := c
		if at < t.warmup {
			to = new(count)
		}
		clients.Go(func(ctx context.Context) error { return t.ask(ctx, client, address, to) })
		at += time.Duration(random.ExpFloat64() * float64(time.Second) / float64(t.rate))
	}
	return clients.Wait()
}

// ask sends a request and counts the outcome. It fails only if the trial is interrupted, or
// the answer is not one of those expected.
func (t trial) ask(ctx context.Context, client *http.Client, address string, c *count) error {
	began := time.Now()
	patient, cancel := context.WithTimeout(ctx, t.patience)
	defer cancel()
	status, err := get(patient, client, address)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case status == http.StatusOK && err == nil:
		c.served = append(c.served, time.Since(began))
	case status == http.StatusServiceUnavailable && err == nil:
		c.refused++
	case patient.Err() != nil || errors.Is(err, context.DeadlineExceeded): // a dialer has a clock of its own
		c.lost++
	case err == nil:
		return fmt.Errorf("unexpected status %d", status)
	default:
		return err
	}
	return nil
}

// get requests a page and returns its status when all of it has arrived.
func get(ctx context.Context, client *http.Client, address string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// serve calls f with the address of a handler, which it serves meanwhile.
func serve(ctx context.Context, web network, h http.Handler, f func(*url.URL) error) error {
	listener, err := web.listen()
	if err != nil {
		return err
	}
	server := &http.Server{Handler: h}
	g := stint.NewGroup(context.WithoutCancel(ctx)) // Close ends it; it must outlast f
	g.Go(func(context.Context) error { return server.Serve(listener) })
	err = f(&url.URL{Scheme: "http", Host: listener.Addr().String()})
	server.Close()
	if served := g.Wait(); !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
