package run

import (
	"io"
	"strings"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/run/command"
)

// TestBound wants jobs that the system starts.
func TestBound(t *testing.T) {
	t.Setenv("STINT_SHELL", "sh")
	t.Setenv("LARGE", strings.Repeat("x", 20000)) // it counts, too
	items := make([]string, 20000)
	for i := range items {
		items[i] = strings.Repeat("x", 400)
	}
	for _, spec := range []command.Spec{
		{Command: []string{"echo"}}, {Command: []string{"echo", "a{}b", "{.}"}}, {Command: []string{"echo {.} {/}"}, Shell: true},
		{Command: []string{"echo"}, Shell: true}, {},
	} {
		for _, fit := range []bool{false, true} {
			o := Options{Spec: spec, Lists: [][]string{items}, MaxArgs: len(items), Fit: fit}
			r, err := New(&o, console.Streams{Stderr: io.Discard})
			if err != nil {
				t.Fatal(err)
			}
			source, err := r.open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			n, first := 0, 0
			for list, err := range source.Seq(t.Context()) {
				if err == nil {
					err = r.command.TooLong(list)
				}
				if err != nil {
					t.Fatalf("%q: %v", o.Command, err)
				}
				if n == 0 {
					first = len(list)
				}
				n += len(list)
			}
			if n != len(items) || first < 20 {
				t.Errorf("%q: %d items in all, %d in the first job", o.Command, n, first)
			}
		}
	}
}
