package items

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

func TestErrors(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("other texts and names of files")
	}
	testfiles.Dir(t, "ab", "a\nb\n", "nul", "a\n\nb\x00c\n", "new\nline", "x\x00")
	broken := io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(errBroken))
	for _, test := range []struct {
		stdin io.Reader
		o     Options
		jobs  int // before the error
		want  string
	}{
		{nil, Options{Files: []string{"ab", "missing"}}, 0, "missing: No such file or directory"},
		{nil, Options{Files: []string{"ab", "."}}, 0, ".: Is a directory"},
		{strings.NewReader("a"), Options{Files: []string{"-", "-"}}, 0, "standard input: it cannot be read twice"},
		{broken, Options{}, 1, "standard input: broken"},
		{nil, Options{Files: []string{"nul"}}, 2, "nul: line 3 has a NUL byte, which an argument cannot have; -0 reads items that end in NUL"},
		{strings.NewReader("a:b\n:\x00"), Options{Delimiter: ':', MaxArgs: 2}, 1, "standard input: item 3 has a NUL byte, which an argument cannot have; -0 reads items that end in NUL"},
		{nil, Options{Files: []string{"new\nline"}}, 0, `'new'$'\n''line': line 1 has a NUL byte, which an argument cannot have; -0 reads items that end in NUL`},
		{strings.NewReader("abcd\nabcde\nf"), Options{MaxItem: 4}, 1, "standard input: line 2 is longer than 4 bytes, which is too long for an argument"},
		{strings.NewReader("abcde"), Options{MaxItem: 4, Delimiter: ':'}, 0, "standard input: item 1 is longer than 4 bytes, which is too long for an argument"},
		{io.LimitReader(&endless{}, 1<<20), Options{MaxItem: 100 << 10, Delimiter: 1}, 0, "standard input: item 1 is longer than 102400 bytes, which is too long for an argument"},
	} {
		var jobs [][]string
		it, err := Open(complete(test.o, test.stdin))
		if err == nil {
			jobs, err = collect(t.Context(), it)
		}
		if err == nil || err.Error() != test.want || len(jobs) != test.jobs {
			t.Errorf("%+v: %v after %d jobs, want %s after %d", test.o, err, len(jobs), test.want, test.jobs)
		}
	}
}

var errBroken = errors.New("broken")

// TestErrorsOfReaders checks that callers can tell what ended a reader, and that files are closed.
func TestErrorsOfReaders(t *testing.T) {
	for _, files := range [][]string{{"broken"}, {"first", "broken"}} {
		closed := 0
		it, err := Open(Options{Files: files, Open: func(name string) (io.ReadCloser, error) {
			if name == "first" {
				return &closer{strings.NewReader("a\n"), &closed}, nil
			}
			return &closer{iotest.ErrReader(errBroken), &closed}, nil
		}})
		if err == nil {
			_, err = collect(t.Context(), it)
		}
		if !errors.Is(err, errBroken) || closed != len(files) {
			t.Errorf("%q: %v, want that of the reader; %d files closed", files, err, closed)
		}
	}
}

// closer counts the calls of Close.
type closer struct {
	io.Reader
	n *int
}

func (c *closer) Close() error { *c.n++; return nil }

// TestSeqIsLazy reads an endless input, and leaves the loop: only with Fit a job waits for lines
// that it does not get.
func TestSeqIsLazy(t *testing.T) {
	for _, test := range []struct {
		o     Options
		lines int // of five jobs, at most
	}{{Options{}, 5}, {Options{MaxArgs: 3}, 15}, {Options{Lists: lists("a b c"), Files: []string{"-"}}, 2}, {Options{Budget: 100, Fit: true, Jobs: 2}, 1000}} {
		input := &endless{}
		it, err := Open(complete(test.o, input))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range it.Seq(t.Context()) {
			if n++; n == 5 || err != nil {
				break
			}
		}
		if n != 5 || input.lines > test.lines {
			t.Errorf("%+v: %d jobs of %d lines, want 5 of %d", test.o, n, input.lines, test.lines)
		}
	}
}

// endless is a text of lines, of which a Read gives one.
type endless struct{ lines int }

func (e *endless) Read(b []byte) (int, error) {
	e.lines++
	return copy(b, "line\n"), nil
}

// FuzzLines cuts a text into lines and joins them again.
func FuzzLines(f *testing.F) {
	f.Add("a\n\nb", byte('\n'))
	f.Add("a:b\x00\xff:", byte(':'))
	f.Add("a\x00b", byte(0))
	f.Fuzz(func(t *testing.T, text string, delimiter byte) {
		it, err := Open(Options{Delimiter: delimiter, Open: func(string) (io.ReadCloser, error) {
			return io.NopCloser(iotest.HalfReader(strings.NewReader(text))), nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		jobs, err := collect(t.Context(), it)
		for _, job := range jobs {
			b.WriteString(job[0])
			b.WriteByte(delimiter)
		}
		if nul := delimiter != 0 && strings.Contains(text, "\x00"); nul != (err != nil) {
			t.Errorf("a NUL byte is %v, error %v", nul, err)
		}
		want := text
		if text != "" && text[len(text)-1] != delimiter {
			want += string([]byte{delimiter})
		}
		if err == nil && b.String() != want {
			t.Errorf("the lines of %q are %q", text, jobs)
		}
	})
}
