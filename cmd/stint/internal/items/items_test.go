package items

import (
	"context"
	"io"
	"os"
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
	{"a\nb\x00\x00c", Options{Delimiter: 1}, []string{"a\nb", "", "c"}, ""},
	{" \t\v\f\r a b \r\n \n", Options{Trim: true}, []string{"a b", ""}, ""},
	{"a\nb\n", Options{Files: []string{"-", "cd"}}, []string{"a,c", "a,d", "b,c", "b,d"}, ""},
	{"unread", Options{Files: []string{"ab", "cd"}, Lists: lists("x y")}, []string{"a,c,x", "a,c,y", "a,d,x", "a,d,y", "b,c,x", "b,c,y", "b,d,x", "b,d,y"}, ""},
	{"", Options{Lists: lists("a b", "", "c")}, nil, "an empty source is an empty item"},
	{"", Options{Files: []string{"none", "ab"}}, nil, "an empty source is an empty item"},
	{"", Options{Lists: lists("")}, nil, ""},

	{"", Options{Lists: lists("a b c d e"), MaxArgs: 2}, []string{"a,b", "c,d", "e"}, ""},
	{"a\nb\nc\nd\n", Options{MaxArgs: 2}, []string{"a,b", "c,d"}, ""},
	{"", Options{Lists: lists("a b", "c d e"), MaxArgs: 2}, []string{"a,c,a,d", "a,e,b,c", "b,d,b,e"}, ""},

	{"a,b\nc\n\nd,,e,\n", Options{ColSep: comma}, []string{"a,b", "c", "", "d,,e,"}, ""},
	{"a , b\n , \n", Options{ColSep: comma, Trim: true}, []string{"a,b", ","}, ""},
	{"a,b\nc\nd,e,f\ng,h\n", Options{ColSep: comma, MaxArgs: 2}, []string{"a,b,c", "d,e,f,g,h"}, ""},
	{"", Options{ColSep: comma, Lists: lists("a,b c", "x,y z")}, []string{"a,b,x,y", "a,b,z", "c,x,y", "c,z"}, ""},
	{"abc\n\n", Options{ColSep: empty}, []string{"a,b,c", ""}, "an empty column comes last"},

	{"", Options{Lists: lists("1 2 3"), Budget: 1000, Fit: true, Jobs: 4}, []string{"1", "2", "3"}, ""},
	{"", Options{Lists: lists(numbers(9)), Budget: 1000, Fit: true, Jobs: 4}, []string{"1,2,3", "4,5", "6,7", "8,9"}, "three jobs of three"},
	{"", Options{Lists: lists("a b", "c d"), Budget: 1000, Fit: true, Jobs: 2}, []string{"a,c,a,d", "b,c,b,d"}, ""},
	{"a,b\nc\nd,e\n", Options{ColSep: comma, Budget: 1000, Fit: true, Jobs: 3}, []string{"a,b", "c", "d,e"}, ""},
	{"", Options{Lists: lists(numbers(8)), Budget: 1000, Fit: true, Jobs: 2, MaxArgs: 4}, []string{"1,2,3,4", "5,6,7,8"}, "the last four are two jobs"},
	{"", Options{Lists: lists(numbers(7)), Budget: 1000, Fit: true, Jobs: 2, MaxArgs: 3}, []string{"1,2,3", "4,5", "6,7"}, "the jobs are filled in their order"},
	{"", Options{Lists: lists("aa bb cc dd ee"), Budget: 8, Fit: true, Jobs: 1}, []string{"aa,bb", "cc,dd", "ee"}, sizes},
	{"", Options{Lists: lists("aaaa b c d eeee f"), Budget: 7, Fit: true, Jobs: 2}, []string{"aaaa,b", "c,d", "eeee,f"}, sizes},

	// Without Fit jobs are as large as MaxArgs says, or as Budget allows.
	{"", Options{Lists: lists("a b c d e"), MaxArgs: 9, Budget: 4}, []string{"a,b", "c,d", "e"}, sizes},
	{"", Options{Lists: lists("aa b cc d e f"), MaxArgs: 2, Budget: 4}, []string{"aa", "b", "cc", "d,e", "f"}, sizes},
	{"a,b\nc\nd,e\n", Options{ColSep: comma, MaxArgs: 3, Budget: 6}, []string{"a,b,c", "d,e"}, sizes},
	{"a\nlonger\nb\nc\n", Options{MaxArgs: 3, Budget: 4}, []string{"a", "longer", "b,c"}, sizes},
	{"a\nlonger\nb\nc\n", Options{Budget: 4}, []string{"a", "longer", "b", "c"}, sizes},
	{"a\nlonger\nb\nc\n", Options{Budget: 4, Fit: true, Jobs: 1}, []string{"a", "longer", "b,c"}, sizes},
}

const sizes = "sizes differ"

// complete returns options with what a table leaves out.
func complete(o Options, stdin io.Reader) Options {
	o.Open = func(name string) (io.ReadCloser, error) {
		if name == "-" {
			return io.NopCloser(stdin), nil
		}
		return os.Open(name)
	}
	switch o.Delimiter {
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

func TestTotal(t *testing.T) {
	testfiles.Dir(t, "ab", "a\nb\n", "none", "")
	long := slices.Repeat([]string{"x"}, 1<<16)
	for _, test := range []struct {
		o    Options
		want int
	}{
		{Options{}, -1},
		{Options{Lists: lists("a b c"), MaxArgs: 2}, 2},
		{Options{Lists: lists("a b c", "x y"), MaxArgs: 5}, 2},
		{Options{Lists: lists("a b c"), Budget: 100, Fit: true}, -1},
		{Options{Lists: lists(""), Budget: 100, Fit: true}, 0},
		{Options{Lists: lists("a b c"), Budget: 100, MaxArgs: 2}, -1},
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

// TestContext ends the context within the loop.
func TestContext(t *testing.T) {
	for _, o := range []Options{{Lists: lists("a b c")}, {Lists: lists("a b", "c d")}, {Lists: lists("a b c d"), Budget: 2, Fit: true, Jobs: 1}} {
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

// TestJobsAreSeparate writes to the items of a job and looks at the others.
func TestJobsAreSeparate(t *testing.T) {
	for _, o := range []Options{{Lists: lists("a,b c,d", "e,f g,h", "i j")}, {Lists: lists("a,b c,d", "e,f g,h"), MaxArgs: 2}, {Lists: lists("a b c d"), Budget: 100, Fit: true, Jobs: 3}} {
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
