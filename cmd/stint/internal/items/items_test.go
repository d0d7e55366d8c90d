package items

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

var (
	comma = regexp.MustCompile(",")
	digit = regexp.MustCompile("[0-9]+")
	empty = regexp.MustCompile("")
)

// lists returns a list of the words of each string.
func lists(texts ...string) [][]string {
	all := [][]string{}
	for _, text := range texts {
		all = append(all, strings.Fields(text))
	}
	return all
}

// numbers returns 1 to n.
func numbers(n int) string {
	s := ""
	for i := range n {
		s += strconv.Itoa(i+1) + " "
	}
	return s
}

// inputs are options and the jobs that come of them, with commas between their items.
// GNU parallel has the same where differs is empty. The files ab, cd and none have two
// lines, two lines and nothing.
var inputs = []struct {
	stdin   string
	o       Options // a Delimiter of 0 is a newline, and 1 is NUL
	want    []string
	differs string // what GNU parallel has
}{
	{"", Options{}, nil, ""},
	{"\n", Options{}, []string{""}, ""},
	{"a\nb", Options{}, []string{"a", "b"}, ""},
	{"a\n\n b \r\n\xff\xfe\n\n", Options{}, []string{"a", "", " b \r", "\xff\xfe", ""}, ""},
	{"a:b\n::c:", Options{Delimiter: ':'}, []string{"a", "b\n", "", "c"}, ""},
	{"a:b\n", Options{Delimiter: ':'}, []string{"a", "b\n"}, ""},
	{"a\nb\x00\x00c", Options{Delimiter: 1}, []string{"a\nb", "", "c"}, ""},
	{" \t\v\f\r a b \r\n \n", Options{Trim: true}, []string{"a b", ""}, ""},
	{"a\nb\n", Options{Files: []string{"-", "cd"}}, []string{"a,c", "a,d", "b,c", "b,d"}, ""},
	{"a\nb\n", Options{Files: []string{"cd", "-"}}, []string{"c,a", "c,b", "d,a", "d,b"}, ""},
	{"unread", Options{Files: []string{"ab", "cd"}, Lists: lists("x y")}, []string{"a,c,x", "a,c,y", "a,d,x", "a,d,y", "b,c,x", "b,c,y", "b,d,x", "b,d,y"}, ""},
	{"", Options{Lists: lists("a b", "", "c")}, nil, "an empty source is an empty item"},
	{"", Options{Files: []string{"none", "ab"}}, nil, "an empty source is an empty item"},
	{"", Options{Files: []string{"ab", "none"}}, nil, "an empty source is an empty item"},
	{"", Options{Lists: lists("")}, nil, ""},

	{"", Options{Lists: lists("a b c d e"), MaxArgs: 2}, []string{"a,b", "c,d", "e"}, ""},
	{"a\nb\nc\nd\n", Options{MaxArgs: 2}, []string{"a,b", "c,d"}, ""},
	{"", Options{Lists: lists("a b", "c d e"), MaxArgs: 2}, []string{"a,c,a,d", "a,e,b,c", "b,d,b,e"}, ""},
	{"", Options{Lists: lists("a b", "c d e"), MaxArgs: 4}, []string{"a,c,a,d,a,e,b,c", "b,d,b,e"}, ""},

	{"a,b\nc\n\nd,,e,\n", Options{ColSep: comma}, []string{"a,b", "c", "", "d,,e,"}, ""},
	{"a , b\n , \n", Options{ColSep: comma}, []string{"a , b", " , "}, ""},
	{"a , b\n , \n", Options{ColSep: comma, Trim: true}, []string{"a,b", ","}, ""},
	{"a,b\nc\nd,e,f\ng,h\n", Options{ColSep: comma, MaxArgs: 2}, []string{"a,b,c", "d,e,f,g,h"}, ""},
	{"", Options{ColSep: comma, Lists: lists("a,b c", "x,y z")}, []string{"a,b,x,y", "a,b,z", "c,x,y", "c,z"}, ""},
	{"a1b22c\n", Options{ColSep: digit}, []string{"a,b,c"}, ""},
	{"abc\n\n", Options{ColSep: empty}, []string{"a,b,c", ""}, "an empty column comes last"},

	{"", Options{Lists: lists("1"), Budget: 1000, Jobs: 4}, []string{"1"}, ""},
	{"", Options{Lists: lists("1 2 3"), Budget: 1000, Jobs: 4}, []string{"1", "2", "3"}, ""},
	{"", Options{Lists: lists(numbers(8)), Budget: 1000, Jobs: 4}, []string{"1,2", "3,4", "5,6", "7,8"}, ""},
	{"", Options{Lists: lists(numbers(9)), Budget: 1000, Jobs: 4}, []string{"1,2,3", "4,5", "6,7", "8,9"}, "three jobs of three"},
	{"", Options{Lists: lists(numbers(9)), Budget: 1000, Jobs: 1}, []string{"1,2,3,4,5,6,7,8,9"}, ""},
	{"", Options{Lists: lists("a b", "c d"), Budget: 1000, Jobs: 2}, []string{"a,c,a,d", "b,c,b,d"}, ""},
	{"a,b\nc\nd,e\n", Options{ColSep: comma, Budget: 1000, Jobs: 3}, []string{"a,b", "c", "d,e"}, ""},
	{"", Options{Lists: lists(numbers(8)), Budget: 1000, Jobs: 2, MaxArgs: 4}, []string{"1,2,3,4", "5,6,7,8"}, ""},
	{"", Options{Lists: lists(numbers(7)), Budget: 1000, Jobs: 2, MaxArgs: 3}, []string{"1,2,3", "4,5", "6,7"}, "the jobs are filled in their order"},
	{"", Options{Lists: lists("aa bb cc dd ee"), Budget: 8, Jobs: 1}, []string{"aa,bb", "cc,dd", "ee"}, "sizes differ"},
	{"", Options{Lists: lists("aaaa b c d eeee f"), Budget: 7, Jobs: 2}, []string{"aaaa", "b,c,d", "eeee,f"}, "sizes differ"},
	{"", Options{Lists: lists("a bbbbb c ddddd e"), Budget: 7, Jobs: 9}, []string{"a", "bbbbb", "c", "ddddd", "e"}, "sizes differ"},
}

// complete returns options with what a table leaves out.
func complete(o Options, stdin io.Reader) Options {
	switch o.Stdin = stdin; o.Delimiter {
	case 0:
		o.Delimiter = '\n'
	case 1:
		o.Delimiter = 0
	}
	if o.Budget > 0 {
		o.Cost = func(item string) int { return len(item) + 1 }
	}
	return o
}

// collect returns the jobs, and the error that ends them.
func collect(ctx context.Context, it *Items) (jobs [][]string, err error) {
	for job, err := range it.Seq(ctx) {
		if err != nil {
			return jobs, err
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

// joined returns jobs with commas between their items.
func joined(jobs [][]string) []string {
	var all []string
	for _, job := range jobs {
		all = append(all, strings.Join(job, ","))
	}
	return all
}

func TestSeq(t *testing.T) {
	testfiles.Dir(t, "ab", "a\nb\n", "cd", "c\nd", "none", "")
	for _, test := range inputs {
		it, err := Open(complete(test.o, iotest.OneByteReader(strings.NewReader(test.stdin))))
		if err != nil {
			t.Fatal(err)
		}
		total := it.Total()
		jobs, err := collect(t.Context(), it)
		if got := joined(jobs); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%q with %+v: %q, %v; want %q", test.stdin, test.o, got, err, test.want)
		}
		if total != -1 && total != len(jobs) {
			t.Errorf("%q with %+v: the total is %d, want %d", test.stdin, test.o, total, len(jobs))
		}
	}
}

// flags returns the options of GNU parallel.
func flags(o Options) []string {
	all := []string{"-k", "-q", "-j" + strconv.Itoa(max(1, o.Jobs)), "--trim", "n"}
	if o.Trim {
		all[len(all)-1] = "lr"
	}
	for _, name := range o.Files {
		all = append(all, "-a", name)
	}
	switch {
	case o.Delimiter == 1:
		all = append(all, "-0")
	case o.Delimiter > 1:
		all = append(all, "-d", string(rune(o.Delimiter)))
	}
	if o.MaxArgs > 0 {
		all = append(all, "-n", strconv.Itoa(o.MaxArgs))
	}
	if o.ColSep != nil {
		all = append(all, "--colsep", o.ColSep.String())
	}
	if o.Budget > 0 {
		all = append(all, "-X")
	}
	all = append(all, "sh", "-c", `for a do printf '%s\0' "$a"; done; printf '\001\0'`, "sh")
	for _, list := range o.Lists {
		all = append(append(all, ":::"), list...)
	}
	return all
}

// TestSeqAsParallel compares the table with the program.
func TestSeqAsParallel(t *testing.T) {
	version, err := exec.Command("parallel", "--version").Output()
	if err != nil || !bytes.HasPrefix(version, []byte("GNU parallel")) || testing.Short() {
		t.Skip("no GNU parallel here, or no time")
	}
	testfiles.Dir(t, "ab", "a\nb\n", "cd", "c\nd", "none", "")
	home := t.TempDir()
	for _, test := range inputs {
		if test.differs != "" {
			continue
		}
		cmd := exec.Command("parallel", append([]string{"--will-cite"}, flags(test.o)...)...)
		cmd.Env = append(os.Environ(), "HOME="+home, "SHELL=/bin/sh")
		cmd.Stdin = strings.NewReader(test.stdin)
		cmd.Stderr = t.Output()
		out, err := cmd.Output()
		var got []string
		for job := range strings.SplitSeq(string(out), "\x01\x00") {
			if job != "" {
				got = append(got, strings.ReplaceAll(strings.TrimSuffix(job, "\x00"), "\x00", ","))
			}
		}
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("parallel has %q for %q with %+v, the table %q; %v", got, test.stdin, test.o, test.want, err)
		}
	}
}

func TestTotal(t *testing.T) {
	testfiles.Dir(t, "ab", "a\nb\n", "none", "")
	long := slices.Repeat([]string{"x"}, 1<<16)
	for _, test := range []struct {
		o    Options
		want int
	}{
		{Options{}, -1},
		{Options{Lists: lists("a b c")}, 3},
		{Options{Lists: lists("a b c"), MaxArgs: 2}, 2},
		{Options{Lists: lists("a b c", "x y")}, 6},
		{Options{Lists: lists("a b c", "x y"), MaxArgs: 5}, 2},
		{Options{Lists: lists("a b c"), Budget: 100}, -1},
		{Options{Lists: lists(""), Budget: 100}, 0},
		{Options{Files: []string{"ab"}}, -1},
		{Options{Files: []string{"ab"}, Lists: lists("x")}, -1},
		{Options{Files: []string{"ab", "none"}}, 0},
		{Options{Lists: [][]string{long, long, long, long, long}}, -1},
		{Options{Lists: [][]string{long, long, long, long, nil}}, 0},
	} {
		it, err := Open(complete(test.o, strings.NewReader("")))
		if err != nil {
			t.Fatal(err)
		}
		if got := it.Total(); got != test.want {
			t.Errorf("the total of %d files and %d lists is %d, want %d", len(test.o.Files), len(test.o.Lists), got, test.want)
		}
		it.first.close()
	}
}

func TestErrors(t *testing.T) {
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
		{nil, Options{Files: []string{"."}}, 0, ".: Is a directory"},
		{strings.NewReader("a"), Options{Files: []string{"-", "-"}}, 0, "standard input: it cannot be read twice"},
		{broken, Options{}, 1, "standard input: broken"},
		{nil, Options{Files: []string{"nul"}}, 2, "nul: line 3 has a NUL byte, which an argument cannot have; -0 reads items that end in NUL"},
		{nil, Options{Files: []string{"ab", "nul"}}, 0, "nul: line 3 has a NUL byte, which an argument cannot have; -0 reads items that end in NUL"},
		{strings.NewReader("a:b\n:\x00"), Options{Delimiter: ':', MaxArgs: 2}, 1, "standard input: item 3 has a NUL byte, which an argument cannot have; -0 reads items that end in NUL"},
		{nil, Options{Files: []string{"new\nline"}}, 0, `'new'$'\n''line': line 1 has a NUL byte, which an argument cannot have; -0 reads items that end in NUL`},
		{nil, Options{Lists: lists("a bb ccccc d"), Budget: 5, Jobs: 1}, 1, "an item of 5 bytes does not fit on a command line, which has 5 for items: ccccc"},
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

// TestErrorsOfReaders checks that callers can tell what ended a reader.
func TestErrorsOfReaders(t *testing.T) {
	for _, files := range [][]string{{"-"}, {"first", "-"}} {
		o := complete(Options{Files: files}, iotest.ErrReader(errBroken))
		closed := 0
		o.Open = func(string) (io.ReadCloser, error) { return &closer{strings.NewReader("a\n"), &closed}, nil }
		it, err := Open(o)
		if err == nil {
			_, err = collect(t.Context(), it)
		}
		if !errors.Is(err, errBroken) {
			t.Errorf("%q: %v, want that of the reader", files, err)
		}
		if want := len(files) - 1; closed != want {
			t.Errorf("%q: %d files closed, want %d", files, closed, want)
		}
	}
}

// closer counts the calls of Close.
type closer struct {
	io.Reader
	n *int
}

func (c *closer) Close() error { *c.n++; return nil }

// TestContext ends the context within the loop.
func TestContext(t *testing.T) {
	for _, o := range []Options{{Lists: lists("a b c")}, {Lists: lists("a b", "c d")}, {Lists: lists("a b c d"), Budget: 2, Jobs: 1}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		it, err := Open(complete(o, nil))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err = range it.Seq(ctx) {
			n++
			cancel(errBroken)
		}
		if n != 2 || err != errBroken {
			t.Errorf("%+v: the loop runs %d times, the last with %v; want 2 times, the last with the cause", o, n, err)
		}
	}
}

// TestSeqIsLazy reads an endless input, and leaves the loop.
func TestSeqIsLazy(t *testing.T) {
	for _, o := range []Options{{}, {MaxArgs: 3}, {Lists: lists("a b c"), Files: []string{"-"}}, {Budget: 100, Jobs: 2}} {
		input := &endless{}
		it, err := Open(complete(o, input))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range it.Seq(t.Context()) {
			if n++; n == 5 || err != nil {
				break
			}
		}
		if n != 5 || input.read > 1<<20 {
			t.Errorf("%+v: %d jobs of %d bytes, want 5 of less than a megabyte", o, n, input.read)
		}
	}
}

// endless is a text of lines.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = "line\n"[(e.read+i)%5]
	}
	e.read += len(b)
	return len(b), nil
}

// TestLongLines reads lines that no buffer holds.
func TestLongLines(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	it, err := Open(complete(Options{}, strings.NewReader(long+"\n"+long)))
	if err != nil {
		t.Fatal(err)
	}
	if jobs, err := collect(t.Context(), it); err != nil || !reflect.DeepEqual(jobs, [][]string{{long}, {long}}) {
		t.Errorf("%d jobs and %v, want two long lines", len(jobs), err)
	}
}

// TestJobsAreSeparate writes to the items of a job and looks at the others.
func TestJobsAreSeparate(t *testing.T) {
	for _, o := range []Options{{Lists: lists("a,b c,d", "e,f g,h", "i j")}, {Lists: lists("a,b c,d", "e,f g,h"), MaxArgs: 2}, {Lists: lists("a b c d"), Budget: 100, Jobs: 3}} {
		o.ColSep = comma
		it, err := Open(complete(o, nil))
		if err != nil {
			t.Fatal(err)
		}
		want, _ := collect(t.Context(), it)
		var got []string
		for job := range it.Seq(t.Context()) {
			got = append(got, strings.Join(job, ","))
			job = append(job, "y", "z")
			clear(job[:cap(job)])
		}
		if !slices.Equal(got, joined(want)) {
			t.Errorf("%+v: %q, want %q", o, got, joined(want))
		}
	}
}

// TestPack checks the promises of Budget on many sizes: no job is over the limits, and
// their number is the least or Jobs.
func TestPack(t *testing.T) {
	for seed := range 500 {
		var list []string
		total := 0
		for i := range seed % 60 {
			list = append(list, strings.Repeat("x", (seed*7+i*i*13)%19))
			total += len(list[i]) + 1
		}
		o := complete(Options{Lists: [][]string{list}, Budget: 20 + seed%50, Jobs: 1 + seed%7, MaxArgs: seed % 5 * 3}, nil)
		it, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		jobs, err := collect(t.Context(), it)
		if err != nil || !slices.Equal(slices.Concat(jobs...), list) {
			t.Fatalf("%+v: %q, %v", o, jobs, err)
		}
		for _, job := range jobs {
			if n := len(strings.Join(job, ",")) + 1; n > o.Budget || o.MaxArgs > 0 && len(job) > o.MaxArgs || len(job) == 0 {
				t.Errorf("%+v: a job has %d items of %d bytes", o, len(job), n)
			}
		}
		if fits := total <= o.Budget && (o.MaxArgs == 0 || len(list) <= o.MaxArgs); fits && len(jobs) != min(o.Jobs, len(list)) {
			t.Errorf("%+v: %d jobs for %d items", o, len(jobs), len(list))
		}
	}
}

func TestParseDelimiter(t *testing.T) {
	for s, want := range map[string]byte{
		":": ':', " ": ' ', `\n`: '\n', `\t`: '\t', `\0`: 0, `\\`: '\\', `\`: '\\', "\n": '\n', "\x00": 0, "\xff": 0xff,
		`\a`: '\a', `\b`: '\b', `\v`: '\v', `\f`: '\f', `\r`: '\r',
	} {
		if got, err := ParseDelimiter(s); got != want || err != nil {
			t.Errorf("ParseDelimiter(%q) is %q, %v; want %q", s, got, err, want)
		}
	}
	for _, s := range []string{"", "ab", `\q`, `\x3a`, `\072`, "é", `\00`, `\é`} {
		_, err := ParseDelimiter(s)
		if err == nil || !strings.Contains(err.Error(), `want one byte, or \n, \t, \0 or \\`) {
			t.Errorf("ParseDelimiter(%q): error %v", s, err)
		}
	}
}

// FuzzLines cuts a text into lines and joins them again.
func FuzzLines(f *testing.F) {
	f.Add("a\n\nb", byte('\n'))
	f.Add("a:b\x00\xff:", byte(':'))
	f.Add("a\x00b", byte(0))
	f.Fuzz(func(t *testing.T, text string, delimiter byte) {
		it, err := Open(Options{Stdin: iotest.HalfReader(strings.NewReader(text)), Delimiter: delimiter})
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

// FuzzColumns splits by a text, and joins the columns again.
func FuzzColumns(f *testing.F) {
	f.Add("a,,b,", ",")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, item, separator string) {
		re, err := regexp.Compile(regexp.QuoteMeta(separator))
		if err != nil {
			t.Skip()
		}
		it := &Items{o: Options{ColSep: re}}
		got := it.appendColumns([]string{"prefix"}, item)
		if len(got) < 2 || got[0] != "prefix" || strings.Join(got[1:], separator) != item {
			t.Errorf("the columns of %q by %q are %q", item, separator, got)
		}
	})
}

func ExampleItems() {
	it, err := Open(Options{Lists: [][]string{{"a", "b"}, {"1", "2"}}})
	if err != nil {
		panic(err)
	}
	fmt.Println(it.Total())
	for job := range it.Seq(context.Background()) {
		fmt.Println(job)
	}
	// Output:
	// 4
	// [a 1]
	// [a 2]
	// [b 1]
	// [b 2]
}
