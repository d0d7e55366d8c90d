package main

import (
	"context"
	"errors"
	"net"
	"sync"
)

// A memory is a network without sockets, for bubbles.
type memory struct {
	mu        sync.Mutex
	listeners map[string]*listener
}

func (m *memory) network() network { return network{m.listen, m.dial} }

func (m *memory) listen() (net.Listener, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := &listener{name: string(rune('a'+len(m.listeners))) + ":80", dialed: make(chan net.Conn), closed: make(chan struct{})}
	if m.listeners == nil {
		m.listeners = map[string]*listener{}
	}
	m.listeners[l.name] = l
	return l, nil
}

func (m *memory) dial(ctx context.Context, _, address string) (net.Conn, error) {
	m.mu.Lock()
	l := m.listeners[address]
	m.mu.Unlock()
	here, there := net.Pipe()
	select {
	case l.dialed <- there:
		return here, nil
	case <-l.closed:
		return nil, errors.New("closed")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A listener accepts what is dialed.
type listener struct {
	name   string
	dialed chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.dialed:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr  { return l }
func (l *listener) Network() string { return "memory" }
func (l *listener) String() string  { return l.name }
