package limit

import (
	"errors"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/machine"
)

// Numbers of jobs that are none.
const (
	adaptive = 0
	paused   = -1
)

const (
	fileInterval = time.Second // between two looks at a file
	maxFileSize  = 256         // bytes
)

// Jobs is a flag: how many jobs run concurrently. The zero value is an adaptive number.
type Jobs struct {
	n    int  // or adaptive, or paused
	file file // that has the number, and is read again when it changes; zero: none
}

// Set parses s: auto, N, N% of the CPUs, +N or -N, so many more or fewer than there are CPUs, or the
// name of a file that has one of these. 0 is auto, as it is as many as possible for xargs and GNU
// parallel; in a file it is a pause.
func (j *Jobs) Set(s string) error {
	n, err := parseJobs(s)
	if err == nil {
		*j = Jobs{n: max(n, adaptive)}
		return nil
	}
	if _, statErr := os.Stat(s); statErr != nil && !strings.ContainsAny(s, "/"+string(os.PathSeparator)) {
		return err
	}
	f := file{name: s}
	if n, _, err = f.read(); err == nil {
		*j = Jobs{n, f}
	}
	return err
}

// String formats j; "" is the default of a flag.
func (j *Jobs) String() string {
	switch {
	case j.file.name != "":
		return j.file.name
	case j.n == adaptive:
		return ""
	}
	return strconv.Itoa(j.n)
}

// Type returns the name of the value in the help.
func (j *Jobs) Type() string { return "jobs" }

// N returns the number, or 0 if it is adaptive or 0.
func (j *Jobs) N() int { return max(0, j.n) }

// File returns the name of the file that has the number, "" if there is none.
func (j *Jobs) File() string { return j.file.name }

var errJobs = errors.New("want auto, a number such as 8, 50% for half of the CPUs, +1 or -1 for one more or fewer than CPUs, or a file that has one of these")

// parseJobs parses a number of jobs. 0 is paused.
func parseJobs(s string) (int, error) {
	if s == "auto" {
		return adaptive, nil
	}
	number, percent := strings.CutSuffix(s, "%")
	n, err := strconv.Atoi(number)
	relative := strings.HasPrefix(s, "+") || strings.HasPrefix(s, "-")
	switch {
	case err != nil, n < 1 && !relative && s != "0", percent && relative, n > math.MaxInt32:
		return 0, errJobs
	case s == "0":
		return paused, nil
	case percent:
		return max(1, machine.CPUs()*n/100), nil
	case relative:
		return max(1, machine.CPUs()+n), nil
	}
	return n, nil
}

// A file has the number of jobs.
type file struct {
	name   string
	looked time.Time // last
	found  string    // then: the content, or why there is no number
}

// read reads the number, and reports whether something else was found the last time.
func (f *file) read() (n int, isNew bool, err error) {
	info, err := os.Stat(f.name)
	var text []byte
	switch {
	case err != nil:
	case !info.Mode().IsRegular(): // reading might block
		err = errors.New("not a regular file")
	case info.Size() > maxFileSize:
		err = errJobs
	default:
		text, err = os.ReadFile(f.name)
	}
	found := strings.TrimSpace(string(text))
	if err == nil {
		n, err = parseJobs(found)
	}
	if err != nil {
		err = errors.New(console.Quote(f.name) + ": " + console.Reason(err))
		found = err.Error()
	}
	isNew, f.found = found != f.found, found
	return n, isNew, err
}
