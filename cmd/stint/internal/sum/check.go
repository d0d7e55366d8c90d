package sum

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/files"
)

// counts are the results of one checksum file.
type counts struct {
	formatted, bad                  int // lines
	matched, mismatched, unreadable int // files
}

// check checks the checksum files that the command line names, and prints what coreutils
// prints. All files are one sequence: the files of the next list are read while those of
// the list before it are.
func (s *Summer) check(ctx context.Context) error {
	return s.reportAll(ctx, func(yield func(result) bool) {
		w := new(files.Walker)
		for _, path := range s.args {
			for r := range s.checkList(ctx, path, w) {
				if !yield(r) {
					return
				}
			}
		}
	})
}

// checkList yields the files that one checksum file lists, and what else there is to
// report, reading a line when the loop asks for it. It skips empty lines and comments.
func (s *Summer) checkList(ctx context.Context, path string, w *files.Walker) iter.Seq[result] {
	return func(yield func(result) bool) {
		l, err := s.openList(ctx, path)
		if err != nil {
			yield(noFile(func() error { return s.fail(path, err) }))
			return
		}
		defer l.Close()
		if path == "-" {
			w.Stdin() // a line that lists "-" finds it read
		}
		n := new(counts) // changed by reports only, which come one after the other
		for number := 1; l.Scan(); number++ {
			text := l.Text()
			if text == "" || text[0] == '#' {
				continue
			}
			r, ok := parse(text, s.alg, s.OneAlgorithm)
			r.report = func(r *result) error { return s.reportFile(n, r) }
			if !ok {
				r = noFile(func() error { return s.reportBadLine(n, l.name, number) })
			} else if r.Path == "-" {
				r.Kind = w.Stdin()
			}
			if !yield(r) {
				return
			}
		}
		end := func() error { return s.reportList(n, l.name) }
		if err := l.Err(); err != nil {
			if err != errTooLong {
				err = errors.New("read error") // as coreutils says
			}
			end = func() error { return s.fail(l.name, err) }
		}
		yield(noFile(end))
	}
}

// noFile returns a result without a file.
func noFile(report func() error) result {
	return result{Item: files.Item{Kind: files.Skipped}, report: func(*result) error { return report() }}
}

// reportBadLine counts a line that is none of a checksum file, and prints it with -w.
func (s *Summer) reportBadLine(n *counts, list string, number int) error {
	n.bad++
	if s.Report == ReportWarn {
		s.note(fmt.Sprintf("%s: %d: improperly formatted %s checksum line", console.Quote(list), number, s.alg.tag()))
	}
	return nil
}

// reportFile prints and counts the outcome of one file.
func (s *Summer) reportFile(n *counts, r *result) error {
	s.done.Add(1)
	n.formatted++
	switch {
	case s.IgnoreMissing && errors.Is(r.Err, fs.ErrNotExist):
		return nil
	case r.Err != nil:
		n.unreadable++
		_ = s.fail(r.Path, r.Err)
		return s.printOutcome(r.Path, "FAILED open or read")
	case !bytes.Equal(r.digest, r.want):
		n.mismatched++
		s.failed = true
		return s.printOutcome(r.Path, "FAILED")
	}
	n.matched++
	if s.Report == ReportQuiet {
		return nil
	}
	return s.printOutcome(r.Path, "OK")
}

// printOutcome prints the line of one file. As in coreutils, only a newline makes it
// escape the name.
func (s *Summer) printOutcome(path, outcome string) error {
	if s.Report == ReportStatus {
		return nil
	}
	if strings.Contains(path, "\n") {
		path = "\\" + escapeName(path)
	}
	return s.out.Line([]byte(path + ": " + outcome + "\n"))
}

// reportList prints coreutils' warnings at the end of one list.
func (s *Summer) reportList(n *counts, list string) error {
	if n.formatted == 0 {
		return s.fail(list, errors.New("no properly formatted checksum lines found"))
	}
	if s.Strict && n.bad > 0 {
		s.failed = true
	}
	if s.Report != ReportStatus {
		s.warn(n.bad, "line is improperly formatted", "lines are improperly formatted")
		s.warn(n.unreadable, "listed file could not be read", "listed files could not be read")
		s.warn(n.mismatched, "computed checksum did NOT match", "computed checksums did NOT match")
	}
	if s.IgnoreMissing && n.matched == 0 {
		s.failed = true
		if s.Report != ReportStatus {
			s.note(console.Quote(list) + ": no file was verified")
		}
	}
	return s.out.Flush()
}

func (s *Summer) warn(n int, singular, plural string) {
	if n > 1 {
		singular = plural
	}
	if n > 0 {
		s.note(fmt.Sprintf("WARNING: %d %s", n, singular))
	}
}
