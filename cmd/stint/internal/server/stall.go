package server

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// StallInterval is the Interval of the commands.
const StallInterval = 3 * time.Second

// A Stall tells the user why no result of a run arrives.
type Stall struct {
	Client   *cluster.Client
	Console  *console.Console
	Interval time.Duration                        // without a result, before it is reported
	Task     string                               // the name of the task
	Advice   func([]cluster.WorkerStatus) string  // what to do if none of the workers runs it
	State    func() (isPending bool, results int) // whether a result is waited for, and how many have arrived; nil: none are
}

// ReportAway prints that the server does not answer, until stop is called.
func ReportAway(ctx context.Context, client *cluster.Client, con *console.Console) (stop func()) {
	return (&Stall{Client: client, Console: con, Interval: StallInterval}).Report(ctx)
}

// Report prints why no result arrives, each reason once, until stop is called.
func (s *Stall) Report(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { s.watch(ctx) })
	return func() {
		cancel()
		wg.Wait()
	}
}

func (s *Stall) watch(ctx context.Context) {
	tick := time.NewTicker(s.Interval)
	defer tick.Stop()
	before, printed := 0, map[string]bool{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		pending, results := false, 0
		if s.State != nil {
			pending, results = s.State()
		}
		if results == before {
			if why := s.reason(ctx, pending); why != "" && !printed[why] {
				s.Console.Message(why)
				printed[why] = true
			}
		}
		before = results
	}
}

// reason returns why no result arrives, or "". Unless a result is waited for, the only
// reason is the server.
func (s *Stall) reason(ctx context.Context, pending bool) string {
	statusCtx, cancel := context.WithTimeout(ctx, max(s.Interval, time.Second))
	defer cancel()
	status, err := s.Client.Health(statusCtx)
	switch {
	case ctx.Err() != nil:
		return ""
	case err != nil:
		return "the server does not answer; waiting for it"
	case status.Store != "":
		return "the server stores nothing: " + status.Store + "; waiting for it"
	case !pending:
		return ""
	}
	if slices.ContainsFunc(status.Workers, func(w cluster.WorkerStatus) bool { return slices.Contains(w.Tasks, s.Task) }) {
		return ""
	}
	return "no worker answers; waiting for one: " + s.Advice(status.Workers)
}
