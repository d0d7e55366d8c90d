package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"
)

// kind says how an item is read.
type kind uint8

const (
	regular    kind = iota
	listed          // named by a checksum file: not looked at yet
	special         // a pipe, device or socket named on the command line: reading may block
	stdin           // standard input
	stdinAgain      // standard input after it has been read to its end
	skipped         // a special file met in a directory: err is nil, note says what it is
)

// item is one file to read, or the reason why there is none.
type item struct {
	path string
	kind kind
	note string
	err  error
}

// errLoop is the error for a directory that contains itself by a symbolic link.
var errLoop = errors.New("file system loop")

// walker turns the paths of the command line into items. It is used by one
// goroutine.
type walker struct {
	ctx     context.Context // of the one run that the walker is made for
	files   *descriptors
	follow  bool    // symbolic links in directories too
	noStdin error   // why "-" may not be read, or nil
	exclude *target // the output file, which is not to be digested
	read    bool    // standard input has been given out
}

// items yields what paths name, directories in the order of their files'
// full names, byte by byte. Nothing is looked at before it is asked for,
// except that a directory is read whole, to be sorted.
//
// Reading it in pieces would need less memory, but give an order that differs
// from one file system to the next and even between two runs. What is kept is
// the names alone, so a million files in one directory take tens of megabytes,
// and a million in a thousand directories next to nothing.
func (w *walker) items(paths iter.Seq[item]) iter.Seq[item] {
	return func(yield func(item) bool) {
		for it := range paths {
			if !w.root(it, yield) {
				return
			}
		}
	}
}

// root yields one path of the command line. Unlike what a walk meets, it is
// read whatever it is, and symbolic links are followed.
func (w *walker) root(it item, yield func(item) bool) bool {
	if it.err != nil {
		return yield(it)
	}
	if it.path == "-" {
		it.kind, it.err = w.stdin()
		return yield(it)
	}
	info, err := os.Stat(it.path)
	switch {
	case err != nil:
		it.err = err
	case info.IsDir():
		return w.dir(it.path, nil, yield)
	case isSpecial(info):
		it.kind = special
	}
	return yield(it)
}

func (w *walker) stdin() (kind, error) {
	if w.noStdin != nil {
		return stdin, w.noStdin
	}
	if w.read {
		return stdinAgain, nil
	}
	w.read = true
	return stdin, nil
}

// dir yields what is below path. above are the directories that lead to it,
// kept only when links are followed, for nothing else can make a loop.
func (w *walker) dir(path string, above []fs.FileInfo, yield func(item) bool) bool {
	if w.follow {
		info, err := os.Stat(path)
		if err == nil && slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, info) }) {
			err = errLoop
		}
		if err != nil {
			return yield(item{path: path, err: err})
		}
		above = append(above, info)
	}
	prefix := path
	if !strings.HasSuffix(path, "/") && !os.IsPathSeparator(path[len(path)-1]) {
		prefix += "/"
	}
	names, err := w.names(path, prefix)
	if err != nil && !yield(item{path: path, err: err}) {
		return false
	}
	for _, name := range names {
		if !w.entry(prefix, name, above, yield) {
			return false
		}
	}
	return true
}

// entry yields one name of a directory, in the form that names gives it.
func (w *walker) entry(prefix, name string, above []fs.FileInfo, yield func(item) bool) bool {
	if below, ok := strings.CutSuffix(name, "/"); ok {
		return w.dir(prefix+below, above, yield)
	}
	name, note, isSpecial := strings.Cut(name, "\x00")
	path := prefix + name
	switch {
	case isSpecial:
		return yield(item{path: path, kind: skipped, note: note})
	case w.exclude.is(path, name):
		return true
	case isTemp(name):
		return yield(item{path: path, kind: skipped, note: "temporary file of a stint sum -o"})
	}
	return yield(item{path: path})
}

// names reads the directory path and returns its entries in the order in which
// they are walked. A directory's name has a slash at its end, which puts what
// is below it where its full name belongs among its siblings': "a-b", "a/x",
// "a0". A special file's has a NUL and then what it is. Symbolic links are
// left out or replaced by what they lead to.
//
// With an error come the names that were read before it.
func (w *walker) names(path, prefix string) ([]string, error) {
	f, err := opened(w.ctx, w.files, path, openDir)
	if err != nil {
		return nil, err
	}
	defer w.files.close(f)
	var names []string
	for {
		entries, err := f.ReadDir(1024)
		names = w.appendNames(names, prefix, entries)
		if err == nil && w.ctx.Err() == nil {
			continue
		}
		slices.Sort(names)
		if err == io.EOF {
			err = nil
		}
		return names, err
	}
}

// appendNames appends the names of entries, cut out of one string: one
// allocation instead of a thousand.
func (w *walker) appendNames(names []string, prefix string, entries []fs.DirEntry) []string {
	var block strings.Builder
	var ends []int
	for _, e := range entries {
		mode := e.Type()
		if mode&fs.ModeSymlink != 0 {
			if !w.follow {
				continue
			}
			mode = 0 // if it leads nowhere, opening it will say so
			if info, err := os.Stat(prefix + e.Name()); err == nil {
				mode = info.Mode().Type()
			}
		}
		block.WriteString(e.Name())
		switch {
		case mode.IsDir():
			block.WriteByte('/')
		case !mode.IsRegular():
			block.WriteString("\x00" + describe(mode))
		}
		ends = append(ends, block.Len())
	}
	all, start := block.String(), 0
	for _, end := range ends {
		names = append(names, all[start:end])
		start = end
	}
	return names
}

// describe names the type of a special file.
func describe(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeCharDevice != 0:
		return "character device"
	case mode&fs.ModeDevice != 0:
		return "block device"
	}
	return "special file"
}

// kindOf looks at a file that a checksum file names. One that cannot be looked
// at is regular: opening it will give the error.
func kindOf(path string) kind {
	if info, err := os.Stat(path); err == nil && isSpecial(info) {
		return special
	}
	return regular
}

// isSpecial reports whether reading the file may wait for somebody.
func isSpecial(info fs.FileInfo) bool { return !info.Mode().IsRegular() && !info.IsDir() }
