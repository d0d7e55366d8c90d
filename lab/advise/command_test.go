package advise

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// shell returns a command of sh. It skips the test if there is none.
func shell(t *testing.T, script string) *Command {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	c, err := NewCommand([]string{"sh", "-c", script})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCommandIsGivenTheIndex(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out{}")
	c := shell(t, "echo {} twice {} > '"+file+"'")
	if err := c.Run(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(strings.ReplaceAll(file, "{}", "7"))
	if err != nil || string(text) != "7 twice 7\n" {
		t.Errorf("%q, %v", text, err)
	}
	if used, ok := c.CPU(); ok && used <= 0 {
		t.Errorf("processor time %v", used)
	}
}

func TestCommandFails(t *testing.T) {
	for script, want := range map[string]string{
		"echo no {} >&2; exit 3": "exit status 3: no 5",
		"exit 4":                 "exit status 4",
		"i=0; while test $i -lt 200; do echo noise; i=$((i+1)); done >&2; exit 1": "noise\nno",
	} {
		if err := shell(t, script).Run(t.Context(), 5); err == nil || !strings.HasSuffix(err.Error(), want) || len(err.Error()) > 1000 {
			t.Errorf("%s: %v, want an error that ends in %q", script, err, want)
		}
	}
	if _, err := NewCommand([]string{"no-such-program"}); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("got %v, want that it is not found", err)
	}
}

func TestCommandIsKilled(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := shell(t, "sleep 60; sleep 60").Run(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// A command that fails or writes something else beside others depends on them.
func TestDependentItems(t *testing.T) {
	lock := filepath.Join(t.TempDir(), "lock")
	c := shell(t, "mkdir '"+lock+"' && sleep 0.05 && rmdir '"+lock+"'")
	if err := c.Run(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	c.running.Add(1)
	if err := os.Mkdir(lock, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "It succeeded alone") {
		t.Errorf("got %v", err)
	}

	file := filepath.Join(t.TempDir(), "file")
	c = shell(t, "cat '"+file+"'")
	for _, text := range []string{"a", "a", "b"} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if text == "b" {
			c.running.Add(1)
		}
		if err := c.Run(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		if err := c.Check(); (err != nil) != (text == "b") {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

// The first of several that run at once has not run alone, as the others have not.
func TestBeside(t *testing.T) {
	t.Chdir(t.TempDir())
	c := shell(t, "touch {}; until [ -e 0 ] && [ -e 1 ]; do sleep 0.01; done") // ends when both run
	var both sync.WaitGroup
	for i := range 2 {
		both.Go(func() {
			if err := c.Run(t.Context(), i); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	if len(c.alone) > 0 {
		t.Errorf("outputs %v count as those of a command that ran alone", c.alone)
	}
}

// The lines have the number of jobs of the best row, none for stint run where the
// adaptive limit is as good.
func TestLines(t *testing.T) {
	loop, free, eight, auto := &Row{Name: loopName}, &Row{Name: freeName}, &Row{Name: "limit-8", Limit: 8}, &Row{Name: autoName}
	for _, c := range []struct {
		args       []string
		rows       []*Row
		run, xargs string
	}{
		{[]string{"gzip", "-k", "file{}"}, []*Row{eight, free}, "stint run -j 8 gzip -k file{}", "xargs -P 8 -I{} gzip -k file{}"},
		{[]string{"gzip", "-k", "file{}"}, []*Row{free}, "stint run gzip -k file{}", "xargs -P 12 -I{} gzip -k file{}"},
		{[]string{"gzip", "-k", "file{}"}, []*Row{auto}, "stint run -j 12 gzip -k file{}", "xargs -P 12 -I{} gzip -k file{}"},
		{[]string{"a b", "{}", "it's", ""}, []*Row{loop, free}, `stint run -j 1 'a b' {} 'it'\''s' ''`, `xargs -P 1 -I{} 'a b' {} 'it'\''s' ''`},
		{[]string{"sleep", "1"}, []*Row{eight}, "stint run -j 8 -s ': {}; sleep 1'", "xargs -P 8 -I{} sleep 1"},
	} {
		got := (&Command{args: c.args}).Lines(&Advice{N: 20, Rows: c.rows, Best: c.rows[0], Limit: 12})
		if want := []string{"seq 0 19 | " + c.run, "seq 0 19 | " + c.xargs}; !slices.Equal(got, want) {
			t.Errorf("%q, %s: got %q, want %q", c.args, c.rows[0].Name, got, want)
		}
	}
	if got := new(Command).Lines(new(Advice)); got != nil {
		t.Errorf("got %q without advice", got)
	}
}
