package files

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

// errLoop is the error for a directory that a symbolic link makes contain itself.
var errLoop = errors.New("file system loop")

// Walker turns the paths of a command line into items. It is for one goroutine.
type Walker struct {
	Descriptors *Descriptors
	Follow      bool    // follow symbolic links in directories too
	NoStdin     error   // why "-" may not be read, or nil
	Exclude     *Target // the output file, which is not read

	ctx       context.Context // of the current walk
	stdinRead bool            // standard input has been yielded
}

// Items yields what paths name, the files of a directory in the order of their full
// names, byte by byte. It looks at nothing before the loop asks for it, except that
// it reads each directory whole, to sort it: memory is the names of the directories
// above the current file. A million files in one directory take tens of megabytes, a
// million in a thousand directories next to nothing.
func (w *Walker) Items(ctx context.Context, paths iter.Seq[Item]) iter.Seq[Item] {
	return func(yield func(Item) bool) {
		w.ctx = ctx
		for it := range paths {
			if !w.root(it, yield) {
				return
			}
		}
	}
}

// root yields one path of the command line. It is read whatever its type, and
// symbolic links are followed.
func (w *Walker) root(it Item, yield func(Item) bool) bool {
	if it.Err != nil {
		return yield(it)
	}
	if it.Path == "-" {
		it.Kind, it.Err = w.Stdin()
		return yield(it)
	}
	info, err := os.Stat(it.Path)
	switch {
	case err != nil:
		it.Err = err
	case info.IsDir():
		return w.dir(it.Path, nil, yield)
	case isSpecial(info):
		it.Kind = Special
	}
	return yield(it)
}

// Stdin returns the kind of the next mention of standard input.
func (w *Walker) Stdin() (Kind, error) {
	if w.NoStdin != nil {
		return Stdin, w.NoStdin
	}
	if w.stdinRead {
		return StdinAgain, nil
	}
	w.stdinRead = true
	return Stdin, nil
}

// dir yields the files below path. above are the directories that lead to it, kept
// only with Follow: without links there are no loops.
func (w *Walker) dir(path string, above []fs.FileInfo, yield func(Item) bool) bool {
	if w.Follow {
		info, err := os.Stat(path)
		if err == nil && slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, info) }) {
			err = errLoop
		}
		if err != nil {
			return yield(Item{Path: path, Err: err})
		}
		above = append(above, info)
	}
	prefix := path
	if !strings.HasSuffix(path, "/") && !os.IsPathSeparator(path[len(path)-1]) {
		prefix += "/"
	}
	names, err := w.names(path, prefix)
	if err != nil && !yield(Item{Path: path, Err: err}) {
		return false
	}
	for _, name := range names {
		if !w.entry(prefix, name, above, yield) {
			return false
		}
	}
	return true
}

// entry yields one name of a directory, in the form that names returns.
func (w *Walker) entry(prefix, name string, above []fs.FileInfo, yield func(Item) bool) bool {
	if below, ok := strings.CutSuffix(name, "/"); ok {
		return w.dir(prefix+below, above, yield)
	}
	name, note, special := strings.Cut(name, "\x00")
	path := prefix + name
	switch {
	case special:
		return yield(Item{Path: path, Kind: Skipped, Note: note})
	case w.Exclude.is(path, name):
		return true
	case isTemp(name):
		return yield(Item{Path: path, Kind: Skipped, Note: "temporary file of a stint sum -o"})
	}
	return yield(Item{Path: path})
}

// names returns the entries of the directory path in the order of the walk. A
// directory's name ends in a slash, which sorts its files by their full names among
// its siblings: "a-b", "a/x", "a0". A special file's name is followed by a NUL and its
// type. Symbolic links are left out, or with Follow have the type of what they lead
// to.
//
// With an error, names returns the entries that were read before it.
func (w *Walker) names(path, prefix string) ([]string, error) {
	f, err := Open(w.ctx, w.Descriptors, path, openDir)
	if err != nil {
		return nil, err
	}
	defer w.Descriptors.Close(f)
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

// appendNames appends the names of entries. They are slices of one string: one
// allocation instead of a thousand.
func (w *Walker) appendNames(names []string, prefix string, entries []fs.DirEntry) []string {
	var block strings.Builder
	var ends []int
	for _, e := range entries {
		mode := e.Type()
		if mode&fs.ModeSymlink != 0 {
			if !w.Follow {
				continue
			}
			mode = 0 // opening a dangling link returns the error
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
