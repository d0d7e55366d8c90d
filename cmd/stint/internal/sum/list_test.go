package sum

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestLongNamesAreNotKept gives a list with a name of 64 MB, and wants little memory for it.
func TestLongNamesAreNotKept(t *testing.T) {
	var before, after runtime.MemStats
	s := &Summer{}
	long := io.MultiReader(strings.NewReader("a\n"), &io.LimitedReader{R: letters{}, N: 64 << 20}, strings.NewReader("\nb\n"))
	runtime.ReadMemStats(&before)
	var got []string
	for it := range s.names(long, "list") {
		got = append(got, fmt.Sprint(it.Path, " ", it.Err))
	}
	runtime.ReadMemStats(&after)
	if want := []string{"a <nil>", "list file name 2 is too long", "b <nil>"}; !slices.Equal(got, want) {
		t.Errorf("names %.200q, want %q", got, want)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
		t.Errorf("%d bytes allocated, want less than 4 MB", n)
	}
}

// letters is an endless text without a newline.
type letters struct{}

func (letters) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}
