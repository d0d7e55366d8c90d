// Package gateway measures a reverse proxy in front of a backend that serves
// fewer requests the more crowded it is, under twice the load that it can serve.
package gateway

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/httplimit"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment gateway.
var Experiment = experiment.New("gateway", "a reverse proxy under twice the load that its backend can serve",
	full(), full().in(500*time.Millisecond, 500*time.Millisecond), run)

// sizes describe the backend and the load.
type sizes struct {
	capacity int           // requests at once that the backend serves at full speed
	service  time.Duration // of a request then
	factor   int           // the load, as a multiple of what the backend can serve
	patience time.Duration // of a client
	waiting  int           // requests that may wait in the proxy
	warmup   time.Duration // requests sent in it are not counted
	length   time.Duration // after that
}

func full() sizes {
	return sizes{capacity: 20, service: 50 * time.Millisecond, factor: 2, patience: time.Second, waiting: 40, warmup: 5 * time.Second, length: 10 * time.Second}
}

// in returns the sizes with other times.
func (z sizes) in(warmup, length time.Duration) sizes {
	z.warmup, z.length = warmup, length
	return z
}

// best is how many requests the backend can serve per second.
func (z sizes) best() float64 { return float64(z.capacity) / z.service.Seconds() }

// samples give an interval. One takes a quarter of a minute.
const samples = 6

// The models.
const (
	nameNone  = "no-limit"
	nameFixed = "httplimit-Limit"
	nameAuto  = "httplimit-Auto"
)

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("gateway", fmt.Sprintf("%.0f requests per second to a reverse proxy whose backend serves %.0f with up to %d at once, and fewer with more; clients give up after %v", float64(z.factor)*z.best(), z.best(), z.capacity, z.patience),
		"An op is a served request: its time is the time of the trial divided by the requests served. Responses that arrive after the client has gone, and refusals, are not served.",
		"p50 and p99 are the times from sending to the end of the response that 50 and 99 of 100 served requests take at most; without one, how long clients wait. The column at once is the most requests in the backend, also in the warm-up.",
		fmt.Sprintf("Requests are sent at random times, whether or not others were answered. Those of the first %v are not counted.", z.warmup),
		"The clients, the proxy and the backend are in this process, connected by HTTP over the loopback interface. The backend sleeps: n requests take (n/capacity)^1.5 times as long as one, or as long if they are fewer than the capacity.")
	return b.Run(ctx, experiment.One(z.kase(), z.claims()...))
}

// kase is named by the load.
func (z sizes) kase() experiment.Case {
	c := experiment.Case{Name: fmt.Sprintf("load=%dx", z.factor), Doc: "an op is a served request", Reference: nameFixed, Ops: 1, Count: samples, Main: true}
	wait := fmt.Sprintf(", at most %d wait", z.waiting)
	c.Models = []experiment.Model{
		z.model(result.Floor.Model("capacity", "what the backend can serve"), nil),
		z.model(result.Peer.Model(nameNone, "httputil.ReverseProxy"), func(proxy http.Handler) http.Handler { return proxy }),
		z.model(result.Ours.Model(nameFixed, fmt.Sprintf("httplimit.Handler with stint.Limit(%d)%s: the best limit, if it is known", z.capacity, wait)), func(proxy http.Handler) http.Handler {
			return httplimit.Handler(proxy, stint.Limit(z.capacity), z.waiting)
		}),
		z.model(result.Ours.Model(nameAuto, "httplimit.Handler with stint.Auto(1, 256)"+wait), func(proxy http.Handler) http.Handler {
			return httplimit.Handler(proxy, stint.Auto(1, 256), z.waiting)
		}),
	}
	return c
}

// model measures a proxy, or the best that is possible if wrap is nil.
func (z sizes) model(m result.Model, wrap func(http.Handler) http.Handler) experiment.Model {
	return experiment.Model{Model: m, Run: func(m *measure.Meter) error {
		if wrap == nil {
			m.Report(measure.Time, 1e9/z.best())
			m.Report(measure.P50, float64(z.service))
			m.Report(measure.P99, float64(z.service))
			m.Report(measure.AtOnce, float64(z.capacity))
			return nil
		}
		c, err := z.trial(wrap)
		m.Report(measure.Time, float64(z.length)/float64(max(1, len(c.served))))
		m.Report(measure.P50, c.quantile(0.5, z.patience))
		m.Report(measure.P99, c.quantile(0.99, z.patience))
		m.Report(measure.AtOnce, float64(c.peak))
		return err
	}}
}

// The conclusions.
const (
	collapses = "Under twice its load, a backend that suffers from crowds collapses behind a reverse proxy without a limit."
	keeps     = "With httplimit.Handler, it serves nine tenths of its capacity or more, and the requests that are served wait for a bounded time."
)

func (z sizes) claims() []result.Claim {
	name := z.kase().Name
	claims := []result.Claim{
		{Case: name, Model: "capacity", Unit: measure.Time, Form: result.Ratio, Than: nameNone, Bar: 0.1, Conclusion: collapses},
	}
	for _, m := range []string{nameFixed, nameAuto} {
		claims = append(claims,
			experiment.AtMost(1/0.9, name, m, "capacity", keeps),
			result.Claim{Case: name, Model: m, Unit: measure.P99, Form: result.Value, Bar: 6 * float64(z.service), Note: "2 services of waiting, 1 of being served, and as much again", Conclusion: keeps})
	}
	return claims
}
