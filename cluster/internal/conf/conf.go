// Package conf is what the options of an engine say. Package embedded uses it to put
// a server under an engine.
package conf

import (
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Config is what the options of one engine say. A zero field was not given.
type Config struct {
	NATS     []nats.Option
	Prefix   string
	Memory   bool
	Queue    int           // how many tasks may be queued or running in the whole engine
	Replicas int           // of the streams
	Keep     time.Duration // how long what belongs to a run outlives its last use
	Log      *slog.Logger
	Strict   bool
	Seed     uint64 // of Strict

	// Only tests say these.
	Glance  time.Duration // between two looks at a run
	FullFor time.Duration // how long a server that is full is waited for

	Synced  bool                   // the server syncs what it confirms
	Address string                 // where an embedded server listens
	Opened  func(fail func(error)) // called when the engine is open; fail ends it
	Closed  func()                 // called when the engine was closed and its connection has ended
}

// Plain reports whether a name of a user can be part of a subject as it is.
func Plain(name string) bool {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return name != "" && strings.Trim(name, plain) == ""
}
