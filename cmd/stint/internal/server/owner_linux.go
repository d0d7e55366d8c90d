package server

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// checkOwner refuses the program of another user of this machine at the other end of a
// connection, but for root's. A program in a container, or behind a proxy of root, passes.
func checkOwner(c net.Conn) error {
	if uid, ok := peerUser(c); ok && uid != 0 && uid != os.Geteuid() {
		return otherServerError(fmt.Sprintf("user %d, and not you, runs the server at %s: to use it, give a secret in %s", uid, c.RemoteAddr(), TokenVariable))
	}
	return nil
}

// peerUser returns the user of the program at the other end of a connection on this machine,
// from the tables of the system.
func peerUser(c net.Conn) (uid int, ok bool) {
	local, err1 := netip.ParseAddrPort(c.LocalAddr().String())
	remote, err2 := netip.ParseAddrPort(c.RemoteAddr().String())
	if err1 != nil || err2 != nil || !remote.Addr().IsLoopback() && remote.Addr() != local.Addr() {
		return 0, false
	}
	for _, table := range []string{"tcp", "tcp6"} {
		text, _ := os.ReadFile("/proc/net/" + table)
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
