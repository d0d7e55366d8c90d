package result_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/result/resulttest"
)

// A result that is read and written gives the same lines.
func TestLinesAreReadBack(t *testing.T) {
	r := resulttest.Example()
	r.Quick = true
	r.Conclude([]result.Claim{resulttest.Claim(result.Ratio, 0.5)})
	var lines bytes.Buffer
	if err := result.Lines(&lines, r); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(lines.String(), "\n"); got != 1+2+1+1 {
		t.Errorf("%d lines, want one of the result, and one each for two rows, a verdict and a warning", got)
	}
	written := lines.String()
	back, err := result.Read(&lines)
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := result.Lines(&again, back); err != nil {
		t.Fatal(err)
	}
	if again.String() != written {
		t.Errorf("read back as\n%s\nwritten as\n%s", again.String(), written)
	}
}

func TestReadComplains(t *testing.T) {
	var whole bytes.Buffer
	if err := result.Lines(&whole, resulttest.Example()); err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(whole.String())) // a result and two rows
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "EOF"},
		{"no result", strings.Join(lines[1:], ""), "the first line is of no result"},
		{"no JSON", lines[0] + "x\n", "line 2 of 3: invalid character"},
		{"cut off", lines[0] + lines[1], "line 3 of 3: EOF"},
		{"cut off in a line", whole.String()[:whole.Len()-4], "line 3 of 3: unexpected EOF"},
		{"twice", whole.String() + whole.String(), "more than 3 lines"},
	} {
		if _, err := result.Read(strings.NewReader(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
