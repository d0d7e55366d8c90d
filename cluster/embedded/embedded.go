// Package embedded runs a NATS server with JetStream inside the program, and gives an
// engine of package cluster on it: for tests, for work that fits on one machine, and
// for the first machine of several, which others reach over the network.
//
//	e, err := embedded.Open()                         // in memory, for this process alone
//	e, err := embedded.Open(embedded.Dir("/var/lib/x"), // in files, for others as well
//		embedded.Listen("10.0.0.1:4222", embedded.Token(secret)))
//
// # What survives
//
// With Memory, nothing: the queue and the results end with the process. With Dir,
// what the server has confirmed was written and synced first, so that it survives the
// end of the process at any moment, and a failure of the power if the disk keeps
// what it says it has written. A file that is damaged, or taken from under the
// server, can cost more than what was in it. One server is one copy: against the
// loss of the machine only a NATS cluster helps, to which cluster.Connect connects.
//
// A server keeps the first error of a write, and refuses all that comes after it. So one
// with Dir that fails, as on a full disk, is replaced by another one, at the same address,
// when the directory takes writes again: cluster.Log says when it has failed and when it
// is back, and clients connect again by themselves. One that fails again and again, whose
// directory was removed, or with Memory, is given up: the engine is closed, and its Wait
// and its calls return why.
//
// # How much fits
//
// With Memory the server takes messages of a tenth of the memory that the process may use:
// of the machine, or of its cgroup or GOMEMLIMIT where one of these is less. In memory small
// messages take several times what is counted. With Dir it takes three
// quarters of the file system; the rest, and more, may be full of something else, so give it one
// of its own. It refuses what is beyond.
// An item or a result, encoded, may have up to a mebibyte.
//
// # What importing it does
//
// The server registers handlers of packages expvar and net/http/pprof on
// http.DefaultServeMux, as soon as it is linked. A program that serves that mux to
// others shows them what these show. It handles no signals and writes no log; its
// warnings and errors go where cluster.Log says.
package embedded

import (
	"context"
	"fmt"
	"time"

	"github.com/stint-go/stint/cluster"
)

// patience bounds the making of the connection, which takes milliseconds. It ends a
// wait for a server that is there and does not answer.
const patience = 30 * time.Second

// Open starts a server and returns an engine that is connected to it, inside the
// process. Without options it is Memory, and no other process can reach it.
//
// Open blocks until the server has read what its directory holds. Close of the engine
// closes the connection, stops the server, with it the connections of others, and
// returns when it has stopped. Until then the engine owns the server. An option
// that is wrong, a directory that cannot be used or that has a server already, and an
// address that cannot be listened on are errors. After an error nothing is left
// running.
func Open(opts ...Option) (*cluster.Engine, error) {
	s, err := collect(opts)
	if err != nil {
		return nil, err
	}
	h, err := start(s)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	e, err := cluster.Connect(ctx, "nats://inside", append(s.engine, h.under)...)
	if err != nil {
		h.close()
		return nil, fmt.Errorf("embedded: %w", err)
	}
	return e, nil
}
