package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"time"
)

// A count is what became of the requests of a trial.
type count struct {
	mu            sync.Mutex
	served        []float64 // ns that each took, sorted after the trial
	refused, lost int       // by the proxy, and given up by clients
	peak          int       // most requests in the backend
	err           error     // the first unexpected one
}

// quantile returns the time in which the given part of the requests was served,
// or other if none was.
func (c *count) quantile(part float64, other time.Duration) float64 {
	if len(c.served) == 0 {
		return float64(other)
	}
	return c.served[max(0, int(math.Ceil(part*float64(len(c.served))))-1)]
}

// trial sends requests to a proxy in front of a backend.
func (z sizes) trial(wrap func(http.Handler) http.Handler) (*count, error) {
	b := &backend{capacity: z.capacity, service: z.service}
	behind := httptest.NewServer(b)
	defer behind.Close()
	address, err := url.Parse(behind.URL)
	if err != nil {
		return new(count), err
	}
	inner, outer := z.connections(), z.connections()
	defer inner.CloseIdleConnections()
	defer outer.CloseIdleConnections()
	front := httptest.NewServer(wrap(&httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(address) },
		Transport: inner,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			w.WriteHeader(http.StatusBadGateway) // without a line in the log
		},
	}))
	defer front.Close()

	c := new(count)
	z.load(&http.Client{Transport: outer}, front.URL, c)
	slices.Sort(c.served)
	c.peak = b.most()
	return c, cmp.Or(c.err, c.sum(z))
}

// connections keeps as many as requests may be there at once.
func (z sizes) connections() *http.Transport {
	return &http.Transport{MaxIdleConnsPerHost: int(float64(z.factor) * z.best())}
}

// sum checks that about as many requests were sent as should be.
func (c *count) sum(z sizes) error {
	want := float64(z.factor) * z.best() * z.length.Seconds()
	if n := len(c.served) + c.refused + c.lost; math.Abs(float64(n)-want) > 10*math.Sqrt(want) {
		return fmt.Errorf("%d requests were sent, want about %.0f", n, want)
	}
	return nil
}

// load sends requests at random times and waits for the answers.
func (z sizes) load(client *http.Client, address string, c *count) {
	random := rand.New(rand.NewPCG(1, 2)) // the same times in each trial
	var clients sync.WaitGroup
	began := time.Now()
	for at := time.Duration(0); at < z.warmup+z.length; {
		time.Sleep(time.Until(began.Add(at)))
		to := c
		if at < z.warmup {
			to = new(count)
		}
		clients.Go(func() { z.ask(client, address, to) })
		at += time.Duration(random.ExpFloat64() * float64(time.Second) / (float64(z.factor) * z.best()))
	}
	clients.Wait()
}

// ask sends a request and counts the outcome.
func (z sizes) ask(client *http.Client, address string, c *count) {
	ctx, cancel := context.WithTimeout(context.Background(), z.patience)
	defer cancel()
	began := time.Now()
	status, body, err := get(ctx, client, address)
	took := time.Since(began)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil && status == http.StatusOK && body == answer:
		c.served = append(c.served, float64(took))
	case err == nil && status == http.StatusServiceUnavailable:
		c.refused++
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded): // a dialer has a clock of its own
		c.lost++
	case err == nil:
		c.err = cmp.Or(c.err, fmt.Errorf("unexpected answer: status %d, %q", status, body))
	default:
		c.err = cmp.Or(c.err, err)
	}
}

// get requests a page.
func get(ctx context.Context, client *http.Client, address string) (status int, body string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}
