package cluster

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
)

// A ClientOption changes a client that Connect or Start makes.
type ClientOption func(*config)

// config holds the options of a client. Zero is the default, unless zero is a valid value.
type config struct {
	nats        []nats.Option
	prefix      string
	memory      bool
	queueLimit  int
	replicas    int
	retention   time.Duration
	heartbeat   time.Duration
	fullTimeout time.Duration
	log         *slog.Logger
	synced      bool // the server syncs what it confirms
}

const (
	defaultQueueLimit = 65_536
	defaultRetention  = 24 * time.Hour
	minRetention      = time.Minute
	minHeartbeat      = 250 * time.Millisecond // records expire after four, and the server counts in seconds
)

// configure reads the options of a client.
func configure(caller string, opts []ClientOption) config {
	c := config{prefix: "stint", log: slog.New(slog.DiscardHandler), heartbeat: 15 * time.Second, fullTimeout: 30 * time.Second}
	for _, opt := range opts {
		if opt == nil {
			panic("cluster: " + caller + ": nil ClientOption")
		}
		opt(&c)
	}
	return c
}

// NATS adds options of the NATS client, such as credentials and TLS. They override the options
// that Connect sets. An ErrorHandler replaces the handler of the Client: then a call that the
// server does not permit waits until its context ends.
func NATS(opts ...nats.Option) ClientOption {
	return func(c *config) { c.nats = append(c.nats, opts...) }
}

// Prefix sets the first part of the names of all streams and subjects. The default is "stint".
// Clients with different prefixes do not see each other. Prefix panics if NewTask would refuse
// p as a name.
func Prefix(p string) ClientOption {
	p = token("Prefix", p)
	return func(c *config) { c.prefix = p }
}

// Memory keeps the streams that the client creates in the memory of the server. The default is
// files. It does not change existing streams.
func Memory() ClientOption { return func(c *config) { c.memory = true } }

// QueueLimit sets how many tasks may be queued or running on the server. The default is 65,536.
// Submitters wait while the queue is full. QueueLimit changes existing streams, for all
// clients. It panics if n is less than 1.
func QueueLimit(n int) ClientOption {
	if n < 1 {
		panic(fmt.Sprintf("cluster: QueueLimit(%d): want 1 or more", n))
	}
	return func(c *config) { c.queueLimit = n }
}

// Replicas sets how many servers of a NATS cluster store each stream. The default is 1. It
// changes existing streams, for all clients. It panics if n is less than 1.
func Replicas(n int) ClientOption {
	if n < 1 {
		panic(fmt.Sprintf("cluster: Replicas(%d): want 1 or more", n))
	}
	return func(c *config) { c.replicas = n }
}

// Retention sets how long the server keeps queued tasks, results, dead letters, and runs whose
// submitter died. The default is 24 hours. A run that needs data older than d ends with
// ErrRunLost, so a run with a Name must end within d. Retention changes existing streams, for
// all clients. It panics if d is less than a minute.
func Retention(d time.Duration) ClientOption {
	if d < minRetention {
		panic(fmt.Sprintf("cluster: Retention(%v): want %v or more", d, minRetention))
	}
	return func(c *config) { c.retention = d }
}

// Heartbeat sets how often a submitter renews the record of a run. The default is 15 s. A run
// without a Name is over when its submitter has sent no heartbeat for 4d, by default a minute.
// Within 4d more, workers stop starting its tasks and end the contexts of its running tasks.
// Within 12d after the run is over, by default three minutes, workers remove its data.
// Submitters and workers should have the same heartbeat. Heartbeat panics if d is less than 250
// ms.
func Heartbeat(d time.Duration) ClientOption {
	if d < minHeartbeat {
		panic(fmt.Sprintf("cluster: Heartbeat(%v): want %v or more", d, minHeartbeat))
	}
	return func(c *config) { c.heartbeat = d }
}

// FullTimeout sets how long calls wait for a server that has no room before they return
// ErrFull. The default is 30 s. It panics if d is not positive.
func FullTimeout(d time.Duration) ClientOption {
	if d <= 0 {
		panic(fmt.Sprintf("cluster: FullTimeout(%v): want more than 0", d))
	}
	return func(c *config) { c.fullTimeout = d }
}

// Log makes a client report to l the events that no call returns, such as a result that could
// not be sent. The default is no log. Log panics if l is nil.
func Log(l *slog.Logger) ClientOption {
	if l == nil {
		panic("cluster: Log: nil Logger")
	}
	return func(c *config) { c.log = l }
}
