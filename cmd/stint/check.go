package main

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
)

// maxLine bounds a line of a checksum file, and a name in a list of names. The longest
// path that can be opened, with every byte escaped, is far shorter.
const maxLine = 64 << 10

// event is what reading the checksum files meets, in order.
type event uint8

const (
	fileToCheck event = iota
	badLine           // not a checksum line
	listEnd           // a checksum file was read to its end
	listError         // a checksum file could not be opened or read
)

// claim is one event, with the list that it comes from.
type claim struct {
	event event
	list  string
	line  int
	item
	expectation
}

// verdict is what became of a claim.
type verdict struct {
	*claim
	matched bool
	err     error // why the file could not be read
}

// tally counts what one checksum file came to.
type tally struct {
	formatted  int
	bad        int
	matched    int
	mismatched int
	unreadable int
}

// verify checks the lists that the command line names, and prints what
// coreutils prints.
func (s *summer) verify(ctx context.Context) error {
	stop := s.watch(ctx, nil)
	defer stop()
	var t tally
	for r, err := range s.digests(ctx, claimed(s.claims(ctx))) {
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			return err
		}
		switch v := judge(&r); v.event {
		case fileToCheck:
			s.console.files.Add(1)
			err = s.report(&t, v)
		case badLine:
			t.bad++
			if s.reporting == reportWarn {
				s.note(fmt.Sprintf("%s: %d: improperly formatted %s checksum line", quote(v.list), v.line, s.alg.tag))
			}
		case listEnd:
			err = s.out.flush()
			s.summarize(&t, v.list)
			t = tally{}
		case listError:
			s.failed = true
			s.note(quote(v.list) + ": " + reason(v.err))
			t = tally{}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// claimed are the digests that claims want: none for an event without a file.
func claimed(claims iter.Seq[*claim]) iter.Seq[result] {
	return func(yield func(result) bool) {
		for c := range claims {
			r := result{item: c.item, alg: c.alg, claim: c}
			if c.event != fileToCheck {
				r.kind = skipped
			}
			if !yield(r) {
				return
			}
		}
	}
}

// judge compares what was found with the claim.
func judge(r *result) verdict {
	matched := r.claim.event == fileToCheck && r.err == nil && bytes.Equal(r.digest(), r.claim.want())
	return verdict{claim: r.claim, matched: matched, err: r.err}
}

// report prints one verdict and counts it.
func (s *summer) report(t *tally, v verdict) error {
	path := v.item.path
	t.formatted++
	switch {
	case s.ignoreMissing && errors.Is(v.err, fs.ErrNotExist):
		return nil
	case v.err != nil:
		t.unreadable++
		s.fail(path, v.err)
		return s.say(path, "FAILED open or read")
	case !v.matched:
		t.mismatched++
		s.failed = true
		return s.say(path, "FAILED")
	}
	t.matched++
	if s.reporting == reportQuiet {
		return nil
	}
	return s.say(path, "OK")
}

// say prints a line about path. Only a newline makes it escape the name, as in
// coreutils.
func (s *summer) say(path, what string) error {
	if s.reporting == reportStatus {
		return nil
	}
	if strings.Contains(path, "\n") {
		path = "\\" + escapeName(path)
	}
	return s.out.line([]byte(path + ": " + what + "\n"))
}

// summarize ends one list with coreutils' warnings.
func (s *summer) summarize(t *tally, list string) {
	if t.formatted == 0 {
		s.failed = true
		s.note(quote(list) + ": no properly formatted checksum lines found")
		return
	}
	if s.strict && t.bad > 0 {
		s.failed = true
	}
	if s.reporting != reportStatus {
		s.warn(t.bad, "line is improperly formatted", "lines are improperly formatted")
		s.warn(t.unreadable, "listed file could not be read", "listed files could not be read")
		s.warn(t.mismatched, "computed checksum did NOT match", "computed checksums did NOT match")
	}
	if s.ignoreMissing && t.matched == 0 {
		s.failed = true
		if s.reporting != reportStatus {
			s.note(quote(list) + ": no file was verified")
		}
	}
}

func (s *summer) warn(n int, one, more string) {
	switch {
	case n == 1:
		s.note("WARNING: 1 " + one)
	case n > 1:
		s.note(fmt.Sprintf("WARNING: %d %s", n, more))
	}
}

// claims reads the lists one after the other, a line when it is asked for.
func (s *summer) claims(ctx context.Context) iter.Seq[*claim] {
	return func(yield func(*claim) bool) {
		p := &parser{alg: s.alg, only: s.given}
		w := &walker{ctx: ctx}
		for _, path := range s.args {
			if !s.claimsOf(ctx, path, p, w, yield) {
				return
			}
		}
	}
}

// claimsOf reads one list.
func (s *summer) claimsOf(ctx context.Context, path string, p *parser, w *walker, yield func(*claim) bool) bool {
	r := io.Reader(&patientReader{ctx, s.std.stdin})
	if path == "-" {
		path, w.read = "standard input", true
	} else {
		f, err := s.openList(ctx, path)
		if err != nil {
			return yield(&claim{event: listError, list: path, item: item{err: err}})
		}
		defer f.Close()
		r = &patientReader{ctx, f}
	}
	lines := bufio.NewReaderSize(r, maxLine)
	for n := 1; ; n++ {
		line, err := readLine(lines, '\n')
		c := &claim{list: path, line: n}
		switch {
		case err == io.EOF && len(line) == 0:
			c.event = listEnd
			return yield(c)
		case err != nil && err != io.EOF && err != bufio.ErrBufferFull:
			c.event, c.item.err = listError, errors.New("read error")
			return yield(c)
		}
		if !c.parse(line, err == bufio.ErrBufferFull, p, w) {
			continue
		}
		if !yield(c) {
			return false
		}
	}
}

// parse fills in c from a line, and reports whether the line says anything:
// empty ones and comments do not.
func (c *claim) parse(line []byte, tooLong bool, p *parser, w *walker) bool {
	line = bytes.TrimSuffix(line, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) == 0 || line[0] == '#' {
		return false
	}
	e, ok := p.parse(line)
	if !ok || tooLong {
		c.event = badLine
		return true
	}
	c.expectation = e
	c.item = item{path: e.path, kind: listed}
	if e.path == "-" {
		c.item.kind, c.item.err = w.stdin()
	}
	return true
}

// readLine reads to the end of the line, or of what else ends in end. Of a line that does
// not fit in r's buffer it returns the beginning, with bufio.ErrBufferFull. What it returns
// is valid until the next read.
func readLine(r *bufio.Reader, end byte) ([]byte, error) {
	line, err := r.ReadSlice(end)
	if err != bufio.ErrBufferFull {
		return line, err
	}
	line = bytes.Clone(line)
	for err == bufio.ErrBufferFull {
		_, err = r.ReadSlice(end)
	}
	if err == nil || err == io.EOF {
		err = bufio.ErrBufferFull
	}
	return line, err
}
