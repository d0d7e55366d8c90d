package items

import (
	"bufio"
	"fmt"
	"io"
	"iter"
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
		b := bufio.NewReaderSize(s.file, 64<<10)
		for n := 1; ; n++ {
			item, err := readItem(b, s.Options)
			switch {
			case err == bufio.ErrBufferFull:
				err = fmt.Errorf("%s %d is longer than %d bytes, which is too long for an argument", s.noun(), n, s.MaxItem)
			case err == io.EOF && item == "":
				return
			case (err == nil || err == io.EOF) && strings.IndexByte(item, 0) >= 0:
				err = fmt.Errorf("%s %d has a NUL byte, which an argument cannot have; -0 reads items that end in NUL", s.noun(), n)
			}
			if err != nil && err != io.EOF {
				yield("", &sourceError{s.name, err})
				return
			}
			if !yield(item, nil) || err == io.EOF {
				return
			}
		}
	}
}

// readItem reads an item and its delimiter, and returns it without. After an error that is not
// io.EOF there is no item. bufio.ErrBufferFull says that it is longer than MaxItem: no more than
// that is kept of it.
func readItem(b *bufio.Reader, o *Options) (string, error) {
	var item []byte
	for {
		part, err := b.ReadSlice(o.Delimiter)
		if err == nil {
			part = part[:len(part)-1]
		}
		switch {
		case o.MaxItem > 0 && len(item)+len(part) > o.MaxItem:
			return "", bufio.ErrBufferFull
		case err != bufio.ErrBufferFull && item == nil:
			return string(part), err
		}
		if item = append(item, part...); err != bufio.ErrBufferFull {
			return string(item), err
		}
	}
}

// noun returns what messages call an item.
func (o *Options) noun() string {
	if o.Delimiter == '\n' {
		return "line"
	}
	return "item"
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
