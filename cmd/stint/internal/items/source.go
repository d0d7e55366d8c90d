package items

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"

	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// A source is a list, or a file of items.
type source struct {
	*Options
	list []string
	file io.ReadCloser // nil: there is only the list
	name string        // of the file, for messages
}

// open opens a file of items.
func open(o *Options, name string) (source, error) {
	s := source{Options: o, name: "standard input"}
	if name != "-" {
		s.name = console.Quote(name)
	}
	file, err := o.Open(name)
	if err != nil {
		return source{}, &sourceError{s.name, err}
	}
	s.file = file
	return s, nil
}

// close closes the file of s. Its error says nothing about what was read.
func (s *source) close() {
	if s.file != nil {
		s.file.Close()
	}
}

// read returns all items of a file.
func read(o *Options, name string) (list []string, err error) {
	s, err := open(o, name)
	if err != nil {
		return nil, err
	}
	defer s.close()
	for item, err := range s.items() {
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, nil
}

// items yields the items of s. The last one of a file need not end in the delimiter.
func (s *source) items() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, item := range s.list {
			if !yield(item, nil) {
				return
			}
		}
		if s.file == nil {
			return
		}
		fail := func(err error) { yield("", &sourceError{s.name, err}) }
		noun := "item"
		if s.Delimiter == '\n' {
			noun = "line"
		}
		most := math.MaxInt
		if s.MaxItem > 0 {
			most = s.MaxItem + 1 // with the delimiter
		}
		b := bufio.NewScanner(s.file)
		b.Buffer(make([]byte, 0, min(most, 64<<10)), most)
		b.Split(s.split)
		n := 1
		for ; b.Scan() && b.Err() == nil; n++ { // with an error comes a part of an item
			item := b.Text()
			if strings.IndexByte(item, 0) >= 0 {
				fail(fmt.Errorf("%s %d has a NUL byte, which an argument cannot have; -0 reads items that end in NUL", noun, n))
				return
			}
			if !yield(item, nil) {
				return
			}
		}
		switch err := b.Err(); err {
		case nil:
		case bufio.ErrTooLong:
			fail(fmt.Errorf("%s %d is longer than %d bytes, which is too long for an argument", noun, n, s.MaxItem))
		default:
			fail(err)
		}
	}
}

// split finds an item in data, as a [bufio.SplitFunc].
func (s *source) split(data []byte, atEOF bool) (advance int, item []byte, err error) {
	if i := bytes.IndexByte(data, s.Delimiter); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// sourceError is an error of a source.
type sourceError struct {
	source string // as messages show it
	err    error
}

// Error returns the message.
func (e *sourceError) Error() string { return e.source + ": " + console.Reason(e.err) }

// Unwrap returns the reader's error.
func (e *sourceError) Unwrap() error { return e.err }
