package template

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// TestQuoteInShells lets shells read what Quote returns: every byte, every pair of ASCII
// characters, and odd names.
func TestQuoteInShells(t *testing.T) {
	t.Chdir(t.TempDir())
	args := slices.Concat(testfiles.OddNames, hostile, reserved, []string{"a{b,c}d", "{a,b}", "{1..3}", "x{,}", "[[", "%1", "~root", "a=~", "+(a)", "\u00a0", "\u3000", "\ufffd"})
	for i := 1; i < 256; i++ {
		args = append(args, string([]byte{byte(i)}), string([]byte{'a', byte(i), '1'}))
		for j := 1; i < 128 && j < 128; j++ {
			args = append(args, string([]byte{byte(i), byte(j)}))
		}
	}
	printable := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return !console.Printable(arg) })
	for _, shell := range shells(t) {
		args := args
		if shell == "sh" { // which need not know $'
			args = printable
		}
		line := Quote(args)
		if !console.Printable(line) {
			t.Errorf("the line has unprintable characters")
		}
		testfiles.Write(t, "script", `printf '%s\000' `+line)
		cmd := exec.Command(shell, "script")
		cmd.Stderr = t.Output()
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		for i := range min(len(got), len(args)) {
			if got[i] != args[i] {
				t.Fatalf("%s reads %s as %q, want %q", shell, Quote(args[i:i+1]), got[i], args[i])
			}
		}
		if len(got) != len(args) {
			t.Errorf("%s reads %d words, want %d", shell, len(got), len(args))
		}
	}
}

// TestQuoteCommands lets a shell read reserved words as names of commands: it finds none.
func TestQuoteCommands(t *testing.T) {
	for _, shell := range shells(t) {
		for _, word := range slices.Concat(reserved, []string{"{", "}", "!", "[["}) {
			cmd := exec.Command(shell, "-c", Quote([]string{word, "x"}))
			if cmd.Run(); cmd.ProcessState.ExitCode() != 127 {
				t.Errorf("%s ends %s with %d, want 127: not found", shell, Quote([]string{word, "x"}), cmd.ProcessState.ExitCode())
			}
		}
	}
}
