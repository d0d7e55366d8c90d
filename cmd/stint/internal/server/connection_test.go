package server

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint/cluster"
)

// TestIsPermanent has errors that end a worker, and errors that it waits out.
func TestIsPermanent(t *testing.T) {
	refused := &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	for err, want := range map[error]bool{
		nats.ErrNoServers: false, nats.ErrTimeout: false, nats.ErrNoInfoReceived: false, io.EOF: false, refused: false, nats.ErrMaxConnectionsExceeded: false,
		&net.DNSError{}: false, fmt.Errorf("%w: %w", nats.ErrTLS, io.EOF): false, fmt.Errorf("%w: %w", nats.ErrTLS, refused): false,
		fmt.Errorf("%w: %w", nats.ErrTLS, x509.UnknownAuthorityError{}): true, fmt.Errorf("%w: %w", nats.ErrTLS, &net.OpError{Err: tls.AlertError(42)}): true,
		fmt.Errorf("a: %w", nats.ErrAuthorization): true, jetstream.ErrJetStreamNotEnabled: true, cluster.ErrFull: true, nats.ErrPermissionViolation: true,
	} {
		if got := isPermanent(err); got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}

// TestPublic wants URLs without secrets.
func TestPublic(t *testing.T) {
	for in, want := range map[string]string{
		"nats://h:1": "nats://h:1", "nats://t@h:1": "nats://h:1", "tls://u:p@h": "tls://h", "t@h:1": "h:1",
		"nats://u:p@q@h:1": "nats://h:1", "u:p@a:1,nats://u:p@b,c": "a:1,nats://b,c",
	} {
		c := &Connection{URL: in}
		if got := c.Public(); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if err := c.Failed(fmt.Errorf("connect to %s: refused", in)); err.Error() != "connect to "+want+": refused" {
			t.Errorf("%q: %q, want nothing secret", in, err)
		}
	}
}
