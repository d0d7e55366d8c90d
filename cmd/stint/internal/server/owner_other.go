//go:build !linux

package server

import (
	"net"
	"time"
)

// localDialer is a net.Dialer: this system does not say whose program listens.
type localDialer struct{ timeout time.Duration }

// Dial implements nats.CustomDialer.
func (d localDialer) Dial(network, address string) (net.Conn, error) {
	return net.DialTimeout(network, address, d.timeout)
}
