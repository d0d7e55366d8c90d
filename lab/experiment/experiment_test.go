package experiment

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/result"
)

// The directory is removed in every case, unless it is to be kept.
func TestInFolder(t *testing.T) {
	wrong := errors.New("wrong")
	for _, c := range []struct {
		name string
		keep bool
		run  func() error
		want any // the error, or the recovered value
	}{
		{"result", false, func() error { return nil }, nil},
		{"error", false, func() error { return wrong }, wrong},
		{"panic", false, func() error { panic("p") }, "p"},
		{"kept", true, func() error { return wrong }, wrong},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			var log strings.Builder
			s := &Session{Keep: c.keep, Log: &log}
			folder := ""
			got := func() (got any) {
				defer func() {
					if p := recover(); p != nil {
						got = p
					}
				}()
				_, err := s.InFolder("it", func(dir string) (*result.Result, error) {
					folder = dir
					return nil, c.run()
				})
				if err != nil {
					return err
				}
				return nil
			}()
			if got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if _, err := os.Stat(folder); folder == "" || (err == nil) != c.keep {
				t.Errorf("%q after it: %v", folder, err)
			}
			if said := strings.Contains(log.String(), folder); said != c.keep {
				t.Errorf("said %q", log.String())
			}
			os.RemoveAll(folder)
		})
	}
}
