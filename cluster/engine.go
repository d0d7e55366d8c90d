package cluster

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster/internal/conf"
)

// An Engine is a connection to a NATS server with JetStream, which has the queue and
// the results. Make one with Connect, or with Open of package embedded. Its methods,
// and the functions that take one, may be called by several goroutines at once.
type Engine struct{}

// An Option changes an engine that Connect makes.
type Option = conf.Option

// NATS gives options to the NATS client: credentials, TLS, names. Later ones win over
// those that Connect sets itself, such as reconnecting for ever.
func NATS(opts ...nats.Option) Option {
	return func(c *conf.Config) { c.NATS = append(c.NATS, opts...) }
}

// Prefix sets what the names of all streams and subjects begin with; the default is
// "stint". Engines with different prefixes do not see each other.
func Prefix(p string) Option { return func(c *conf.Config) { c.Prefix = p } }

// Memory makes streams that Connect creates live in the memory of the server, not in
// files: they end with it.
func Memory() Option { return func(c *conf.Config) { c.Memory = true } }

// QueueLimit sets how many tasks may be queued or running in the whole engine; the
// default is 65,536. Submitters wait while it is full.
func QueueLimit(n int) Option { return func(c *conf.Config) { c.Queue = n } }

// Replicas sets on how many servers of a NATS cluster everything is kept; the default is 1.
func Replicas(n int) Option { return func(c *conf.Config) { c.Replicas = n } }

// Keep sets how long results, and tasks that were put aside, are kept; the default
// is 24 hours. A run whose submitter died can be resumed for that long.
func Keep(d time.Duration) Option { return func(c *conf.Config) { c.Keep = d } }

// Log sets where an engine reports what no caller is told; the default is nowhere.
func Log(l *slog.Logger) Option { return func(c *conf.Config) { c.Log = l } }

// Strict makes workers on this engine difficult on purpose: they run some tasks
// twice, in another order, after a delay, and take the result of either. What they do follows from the
// seed. It is for tests: a function that is not idempotent fails on one
// machine already.
func Strict(seed uint64) Option { return func(c *conf.Config) { c.Strict, c.Seed = true, seed } }

// Connect connects to the NATS server at url, or to one of several with commas
// between them.
func Connect(ctx context.Context, url string, opts ...Option) (*Engine, error) { panic("todo") }

// Close ends the connection.
func (e *Engine) Close() error { panic("todo") }

// URL returns where others reach the server of this engine.
func (e *Engine) URL() string { panic("todo") }

// Handle makes Serve run the tasks with the name of t.
func (e *Engine) Handle(t Handler) { panic("todo") }

// Serve runs tasks until ctx ends, and returns nil when the last of them has ended.
func Serve(ctx context.Context, e *Engine, opts ...stint.Option) error { panic("todo") }

// Map is stint.Map across machines.
func Map[In, Out any](ctx context.Context, e *Engine, t *Task[In, Out], items []In, opts ...stint.Option) ([]Out, error) {
	panic("todo")
}

// MapSeq is stint.MapSeq across machines.
func MapSeq[In, Out any](ctx context.Context, e *Engine, t *Task[In, Out], seq iter.Seq[In], opts ...stint.Option) iter.Seq2[Out, error] {
	panic("todo")
}

// Resume goes on with a run whose submitter died.
func Resume[In, Out any](ctx context.Context, e *Engine, t *Task[In, Out], run string) iter.Seq2[Out, error] {
	panic("todo")
}
