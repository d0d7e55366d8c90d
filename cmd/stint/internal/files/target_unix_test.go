//go:build unix

package files

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// TestTargetDoesNotFit copies the output into a file that may not become that long.
func TestTargetDoesNotFit(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ) // so that the write fails instead
	defer signal.Reset(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Skip(err)
	}
	few, many := "short\n", strings.Repeat("a longer line\n", 10)
	for _, test := range []struct {
		old, text, want string
		limit           uint64
	}{
		{few, many, few, 50},
		{many, strings.ToUpper(many[:100]), strings.ToUpper(many[:50]) + many[50:], 50},
	} {
		t.Chdir(t.TempDir())
		testfiles.Write(t, "out", test.old)
		testfiles.Link(t, "out", "twin")
		o, err := Create(t.Context(), "out")
		if err == nil {
			_, err = o.Write([]byte(test.text))
		}
		if err != nil {
			t.Fatal(err)
		}
		less := before
		less.Cur = test.limit
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &less); err != nil {
			t.Skip(err)
		}
		err = o.Commit()
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Fatal(err)
		}
		if want := "write error: out: File too large; the output is in " + o.temp; err == nil || err.Error() != want {
			t.Errorf("error %v, want %q", err, want)
		}
		if got, _ := os.ReadFile("twin"); string(got) != test.want {
			t.Errorf("the file holds %q, want %q", got, test.want)
		}
		if got, _ := os.ReadFile(o.temp); string(got) != test.text {
			t.Errorf("the temporary file holds %q, want %q", got, test.text)
		}
	}
}
