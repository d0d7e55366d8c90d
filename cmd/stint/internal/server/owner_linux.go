package server

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"
)

// A localDialer dials a server on this machine that needs no secret, and refuses the program of
// another user, but for root. A program in a container, or behind a proxy of root, passes.
type localDialer struct{ timeout time.Duration }

// Dial implements nats.CustomDialer.
func (d localDialer) Dial(network, address string) (net.Conn, error) {
	conn, err := net.DialTimeout(network, address, d.timeout)
	if err != nil {
		return nil, err
	}
	c := &readConn{Conn: conn}
	_ = conn.SetReadDeadline(time.Now().Add(d.timeout))
	c.n, err = conn.Read(c.first[:]) // the system knows the user when the connection is accepted
	_ = conn.SetReadDeadline(time.Time{})
	if uid, ok := peerUser(conn, "/proc/net/"); err == nil && ok && uid != 0 && uid != os.Geteuid() {
		err = fmt.Errorf("user %d, and not you, runs the server at %s: to use it, give a secret in %s", uid, address, TokenVariable)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

// readConn is a connection of which something has been read.
type readConn struct {
	net.Conn
	first [1]byte
	n     int // bytes of first that are not yet returned
}

func (c *readConn) Read(p []byte) (int, error) {
	if c.n > 0 && len(p) > 0 {
		c.n, p[0] = 0, c.first[0]
		return 1, nil
	}
	return c.Conn.Read(p)
}

// peerUser returns the user of the program at the other end of a connection on this machine,
// from the tables of the system in dir.
func peerUser(c net.Conn, dir string) (uid int, ok bool) {
	local, err1 := netip.ParseAddrPort(c.LocalAddr().String())
	remote, err2 := netip.ParseAddrPort(c.RemoteAddr().String())
	if err1 != nil || err2 != nil {
		return 0, false
	}
	for _, table := range []string{"tcp", "tcp6"} {
		text, _ := os.ReadFile(dir + table)
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) > 9 && f[1] == inTable(remote, table) && f[2] == inTable(local, table) && f[9] != "0" { // 0: not accepted
				uid, err := strconv.Atoi(f[7])
				return uid, err == nil
			}
		}
	}
	return 0, false
}

// inTable returns an address as a table of the system has it.
func inTable(a netip.AddrPort, table string) string {
	b := a.Addr().AsSlice()
	if as16 := a.Addr().As16(); table == "tcp6" {
		b = as16[:]
	}
	var s strings.Builder
	for ; len(b) > 0; b = b[4:] {
		fmt.Fprintf(&s, "%08X", binary.NativeEndian.Uint32(b))
	}
	return fmt.Sprintf("%s:%04X", &s, a.Port())
}
