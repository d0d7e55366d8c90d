// Package embedded runs a NATS server with JetStream inside the program, and returns a
// client of package cluster that is connected to it: for tests, for work that fits on one
// machine, and for the first of several machines.
//
//	c, err := embedded.Open()                           // in memory, for this process alone
//	c, err := embedded.Open(embedded.Dir("/var/lib/x"), // in files, for others as well
//		embedded.Listen("10.0.0.1:4222", embedded.Token(secret)))
//
// # Durability
//
// With Memory the queue and the results end with the process. With Dir the server writes and
// syncs a message before it confirms the message. So a confirmed message survives the end of
// the process at any moment. It survives a power failure if the disk keeps what it has synced.
// Damage to the files can cost more than the damaged messages. One server is one copy. Only a
// NATS cluster, to which cluster.Connect connects, survives the loss of a machine.
//
// After the first failed write a NATS server refuses all messages. When a server with Dir fails
// in this way, as on a full disk, another server replaces it at the same address as soon as the
// directory can be written. cluster.Log reports the failure and the replacement, and clients
// connect again. A server is not replaced if it fails repeatedly, if its directory was removed,
// or if it has no Dir. Then the client is closed, and its Wait and its calls return the reason.
//
// # Capacity
//
// With Memory the server stores messages up to a tenth of the machine's memory, or of
// GOMEMLIMIT if that is less. In a container set GOMEMLIMIT. Small messages take several times
// as much memory as is counted. With Dir the server stores messages up to three quarters of the
// file system. Give it a file system of its own. A full server refuses further messages. An
// encoded item or result may have a mebibyte.
//
// # Imports
//
// The NATS server registers handlers of expvar and net/http/pprof on http.DefaultServeMux
// as soon as it is linked. It handles no signals. Its warnings and errors go to cluster.Log.
package embedded

import (
	"fmt"

	"github.com/stint-go/stint/cluster"
)

// Open starts a server inside the process and returns a client that is connected to it. By
// default the server is in memory, and no other process can reach it.
//
// Open blocks until the server has read its directory. Close of the client stops the server,
// which ends the connections of other clients, and returns when the server has stopped. Open
// returns an error for an invalid option, a directory that cannot be used or already has a
// server, and an address on which it cannot listen. After an error nothing is left running.
func Open(opts ...Option) (*cluster.Client, error) {
	set, err := collect(opts)
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	c, err := cluster.Start(newSupervisor(set), set.client...)
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	return c, nil
}
