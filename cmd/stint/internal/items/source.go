package items

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// A source is a list, or a reader of items.
type source struct {
	list []string
	r    io.Reader
	file io.Closer // nil if there is nothing to close
	name string    // of the reader, for messages
}

// open returns the sources of o, at least one.
func open(o Options) ([]source, error) {
	names := o.Files
	if len(o.Files)+len(o.Lists) == 0 {
		names = []string{"-"}
	}
	var all []source
	stdin := o.Stdin
	for _, name := range names {
		s, err := source{r: stdin, name: "standard input"}, error(nil)
		switch {
		case name != "-":
			s, err = openFile(o, name)
		case stdin == nil:
			err = &sourceError{s.name, errors.New("it cannot be read twice")}
		default:
			stdin = nil
		}
		if err != nil {
			closeAll(all)
			return nil, err
		}
		all = append(all, s)
	}
	for _, list := range o.Lists {
		all = append(all, source{list: list})
	}
	return all, nil
}

// openFile opens a file of items.
func openFile(o Options, name string) (source, error) {
	if o.Open == nil {
		o.Open = func(name string) (io.ReadCloser, error) { return os.Open(name) }
	}
	shown := console.Quote(name)
	f, err := o.Open(name)
	if err != nil {
		return source{}, &sourceError{shown, err}
	}
	return source{r: f, file: f, name: shown}, nil
}

// close closes the file of s. Its error says nothing about what was read.
func (s *source) close() {
	if s.file != nil {
		s.file.Close()
	}
}

func closeAll(all []source) {
	for _, s := range all {
		s.close()
	}
}

// read returns all items of s, and closes its file.
func (s *source) read(o Options) ([]string, error) {
	defer s.close()
	if s.r == nil {
		return s.list, nil
	}
	var list []string
	for item, err := range s.items(o) {
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, nil
}

// items yields the items of s. The last one of a reader need not end in the delimiter.
func (s *source) items(o Options) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, item := range s.list {
			if !yield(item, nil) {
				return
			}
		}
		if s.r == nil {
			return
		}
		b := bufio.NewReaderSize(s.r, 64<<10)
		for n := 1; ; n++ {
			item, err := readItem(b, &o)
			switch {
			case err == bufio.ErrBufferFull:
				err = fmt.Errorf("%s %d is longer than %d bytes, which is too long for an argument", o.noun(), n, o.MaxItem)
			case err == io.EOF && item == "":
				return
			case (err == nil || err == io.EOF) && strings.IndexByte(item, 0) >= 0:
				err = fmt.Errorf("%s %d has a NUL byte, which an argument cannot have; -0 reads items that end in NUL", o.noun(), n)
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
