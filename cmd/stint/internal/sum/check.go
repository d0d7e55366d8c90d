package sum

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/files"
	"github.com/stint-go/stint/cmd/stint/internal/interrupt"
)

// event is what reading the checksum files yields, in order.
type event uint8

const (
	fileToCheck event = iota
	badLine           // not a checksum line
	listEnd           // a checksum file was read to its end
	listError         // a checksum file could not be opened or read
)

// checkLine is one event, with its place in a checksum file.
type checkLine struct {
	event  event
	list   string
	number int
	expectation
}

// counts are the results of one checksum file.
type counts struct {
	formatted, bad                  int // lines
	matched, mismatched, unreadable int // files
}

// check checks the checksum files that the command line names, and prints what coreutils
// prints.
func (s *Summer) check(ctx context.Context) error {
	stop := s.showProgress(ctx, nil)
	defer stop()
	var n counts
	for r, err := range s.digests(ctx, s.checkLines(ctx)) {
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			return err
		}
		switch l := r.line; l.event {
		case fileToCheck:
			s.done.Add(1)
			err = s.reportFile(&n, &r)
		case badLine:
			n.bad++
			if s.Report == ReportWarn {
				s.note(fmt.Sprintf("%s: %d: improperly formatted %s checksum line", console.Quote(l.list), l.number, s.alg.tag))
			}
		case listEnd:
			err = s.out.Flush()
			s.reportList(&n, l.list)
			n = counts{}
		case listError:
			s.fail(l.list, r.Err)
			n = counts{}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reportFile prints and counts the outcome of one file.
func (s *Summer) reportFile(n *counts, r *result) error {
	n.formatted++
	switch {
	case s.IgnoreMissing && errors.Is(r.Err, fs.ErrNotExist):
		return nil
	case r.Err != nil:
		n.unreadable++
		s.fail(r.Path, r.Err)
		return s.printOutcome(r.Path, "FAILED open or read")
	case !bytes.Equal(r.digest(), r.line.digest()):
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
func (s *Summer) reportList(n *counts, list string) {
	if n.formatted == 0 {
		s.failed = true
		s.note(console.Quote(list) + ": no properly formatted checksum lines found")
		return
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
}

func (s *Summer) warn(n int, singular, plural string) {
	switch {
	case n == 1:
		s.note("WARNING: 1 " + singular)
	case n > 1:
		s.note(fmt.Sprintf("WARNING: %d %s", n, plural))
	}
}

// checkLines yields what the checksum files list, reading a line when the loop asks for
// it.
func (s *Summer) checkLines(ctx context.Context) iter.Seq[result] {
	return func(yield func(result) bool) {
		p := &parser{alg: s.alg, only: s.OneAlgorithm}
		w := new(files.Walker)
		for _, path := range s.args {
			if !s.checkLinesOf(ctx, path, p, w, yield) {
				return
			}
		}
	}
}

// checkLinesOf yields what one checksum file lists. It skips empty lines and comments.
func (s *Summer) checkLinesOf(ctx context.Context, path string, p *parser, w *files.Walker, yield func(result) bool) bool {
	r := s.std.Stdin
	if path == "-" {
		path = "standard input"
		_, _ = w.Stdin() // a line that lists "-" finds it read
	} else {
		f, err := s.openList(ctx, path)
		if err != nil {
			return yield(noFile(&checkLine{event: listError, list: path}, err))
		}
		defer f.Close()
		r = f
	}
	lines := bufio.NewReaderSize(interrupt.NewReader(ctx, r), maxLine)
	for n := 1; ; n++ {
		text, err := readLine(lines, '\n')
		l := &checkLine{list: path, number: n}
		switch {
		case err == io.EOF && len(text) == 0:
			l.event = listEnd
			return yield(noFile(l, nil))
		case err != nil && err != io.EOF && err != bufio.ErrBufferFull:
			l.event = listError
			return yield(noFile(l, errors.New("read error")))
		}
		text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		if !yield(l.parse(text, err == bufio.ErrBufferFull, p, w)) {
			return false
		}
	}
}

// parse fills in l from a line, and returns the file that it lists.
func (l *checkLine) parse(text []byte, tooLong bool, p *parser, w *files.Walker) result {
	e, ok := p.parse(text)
	if !ok || tooLong {
		l.event = badLine
		return noFile(l, nil)
	}
	l.expectation = e
	r := result{Item: files.Item{Path: e.path, Kind: files.Listed}, alg: e.alg, line: l}
	if e.path == "-" {
		r.Kind, r.Err = w.Stdin()
	}
	return r
}

// noFile returns the result of an event without a file.
func noFile(l *checkLine, err error) result {
	return result{Item: files.Item{Kind: files.Skipped, Err: err}, line: l}
}
