package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/httplimit"
	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// A gateway is a reverse proxy under twice the load that its backend can serve.
type gateway struct {
	capacity int           // requests at once that the backend serves at full speed
	service  time.Duration // of a request then
	patience time.Duration // how long clients wait for an answer
	warmup   time.Duration // requests sent in it are not counted
	length   time.Duration // after that
}

const (
	gatewayName = "gateway/load=2x"
	nameNone    = "no-limit"
	nameFixed   = "httplimit-Limit"
	nameAuto    = "httplimit-Auto"
)

// best is how many requests the backend can serve per second.
func (g gateway) best() float64 { return float64(g.capacity) / g.service.Seconds() }

func (g gateway) note() string {
	return fmt.Sprintf("In %s, clients send %.0f requests per second at random times, whether or not others were answered, and give up after %v. "+
		"The backend of the reverse proxy serves %.0f with up to %d at once; n requests take (n/%d)^1.5 times as long as one. "+
		"An op is a served request: its time is that of the trial divided by the requests served. "+
		"p50 and p99 are of served requests; without one, how long clients wait. All are in this process. Requests of the first %v are not counted.",
		gatewayName, 2*g.best(), g.patience, g.best(), g.capacity, g.capacity, g.warmup)
}

func (g gateway) kase() experiment.Case {
	c := experiment.Case{Name: gatewayName, Reference: nameFixed, Ops: 1, Count: samples, Main: true,
		Doc: "an op is a served request, under twice the load that the backend can serve"}
	add := func(m result.Model, limit func() *stint.Limiter) {
		c.Models = append(c.Models, experiment.Model{Model: m, Run: func(m *measure.Meter) error { return g.trial(m, limit) }})
	}
	add(result.Peer.Model(nameNone, "httputil.ReverseProxy"), nil)
	add(result.Ours.Model(nameFixed, "httplimit.Handler with the best Limit, if it is known; twice as many wait"),
		func() *stint.Limiter { return stint.Limit(g.capacity) })
	add(result.Ours.Model(nameAuto, "httplimit.Handler with stint.Auto(1, 256); as many wait"), func() *stint.Limiter { return stint.Auto(1, 256) })
	return c
}

func (g gateway) claims() []result.Claim {
	out := experiment.Concludes("",
		"Under twice its load, a backend that suffers from crowds collapses behind a reverse proxy without a limit.",
		experiment.AtMost(0.1, gatewayName, nameFixed, nameNone, ""))
	for _, m := range []string{nameFixed, nameAuto} {
		out = append(out, experiment.Concludes("",
			"With httplimit.Handler, it serves nine tenths of its capacity or more, and the requests that are served wait for a bounded time.",
			result.Claim{Case: gatewayName, Model: m, Unit: measure.Time, Form: result.Value, Bar: 1e9 / g.best() / 0.9, Note: "nine tenths of the capacity"},
			result.Claim{Case: gatewayName, Model: m, Unit: measure.P99, Form: result.Value, Bar: 6 * float64(g.service),
				Note: "2 services of waiting, 1 of being served, and as much again"})...)
	}
	return out
}

// A backend takes longer for requests beyond its capacity.
type backend struct {
	gateway
	engine.Gauge
	inside atomic.Int64
}

func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.Enter()
	defer b.Leave()
	crowd := max(1, float64(b.inside.Add(1))/float64(b.capacity))
	defer b.inside.Add(-1) // before the proxy gets the end of the response
	select {
	case <-time.After(time.Duration(float64(b.service) * math.Pow(crowd, 1.5))):
		pages(w, r)
	case <-r.Context().Done():
	}
}

// trial sends requests to a proxy in front of a backend, at the same random times for all models.
func (g gateway) trial(m *measure.Meter, limit func() *stint.Limiter) error {
	b := &backend{gateway: g}
	behind := httptest.NewServer(b)
	defer behind.Close()
	address, err := url.Parse(behind.URL)
	if err != nil {
		return err
	}
	inner := &http.Transport{MaxIdleConnsPerHost: int(2 * g.best())}
	defer inner.CloseIdleConnections()
	var proxy http.Handler = &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(address) },
		Transport:    inner,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }, // without a line in the log
	}
	if limit != nil {
		proxy = httplimit.Handler(proxy, limit(), 2*g.capacity)
	}
	front := httptest.NewServer(proxy)
	defer front.Close()
	c := &count{client: newClient(front.Listener.Addr().String(), inner.MaxIdleConnsPerHost), patience: g.patience}
	defer c.client.CloseIdleConnections()

	random, began := rand.New(rand.NewPCG(1, 2)), time.Now()
	var clients sync.WaitGroup
	for at := time.Duration(0); at < g.warmup+g.length; at += time.Duration(random.ExpFloat64() * float64(time.Second) / (2 * g.best())) {
		time.Sleep(time.Until(began.Add(at)))
		clients.Go(func() { c.ask(at >= g.warmup) })
	}
	clients.Wait()
	m.Report(measure.Time, float64(g.length)/float64(max(1, len(c.served))))
	m.Report(measure.P50, c.quantile(0.5))
	m.Report(measure.P99, c.quantile(0.99))
	m.Report(measure.AtOnce, float64(b.Peak()))
	return c.err
}

// A count is what became of the requests of a trial.
type count struct {
	client   *client
	patience time.Duration

	mu     sync.Mutex
	served []time.Duration // how long each took
	err    error           // the first that is neither a refusal nor the end of patience
}

// ask sends a request and counts a served one.
func (c *count) ask(counts bool) {
	ctx, cancel := context.WithTimeout(context.Background(), c.patience)
	defer cancel()
	began := time.Now()
	err := c.client.get(ctx, 0)
	took := time.Since(began)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil && counts:
		c.served = append(c.served, took)
	case err == nil || err == errBusy || ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded): // a dialer has a clock of its own
	default:
		c.err = cmp.Or(c.err, err)
	}
}

// quantile returns the time in which the given part of the requests was served, or the patience
// if none was.
func (c *count) quantile(part float64) float64 {
	if len(c.served) == 0 {
		return float64(c.patience)
	}
	slices.Sort(c.served)
	return float64(c.served[max(0, int(math.Ceil(part*float64(len(c.served))))-1)])
}
