package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTokenPaths wants a file of its own for each address, and one for all names of the
// same address.
func TestTokenPaths(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	for host, want := range map[string]string{
		"localhost": "token-1", "127.0.0.1": "token-1", "::1": "token-1", "::ffff:127.0.0.1": "token-1",
		"127.0.0.2": "token-127.0.0.2-1", "::ffff:127.0.0.2": "token-127.0.0.2-1",
	} {
		if got := tokenPaths(host, "1"); len(got) == 0 || filepath.Base(got[0]) != want {
			t.Errorf("the files of %s: %q, want %s", host, got, want)
		}
	}
}

// TestTokenPathOfEachMachine wants the name of the machine where machines may share a directory.
func TestTokenPathOfEachMachine(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "")
	for _, home := range []string{"HOME", "XDG_CONFIG_HOME", "AppData"} {
		t.Setenv(home, t.TempDir())
	}
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range tokenPaths("localhost", "1") {
		if !strings.HasSuffix(path, "token-1@"+machine) {
			t.Errorf("%q; want the name of the machine, %q, in it", path, machine)
		}
	}
}
