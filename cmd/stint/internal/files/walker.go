package files

import (
	"context"
	"errors"
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
	Follow  bool    // follow symbolic links in directories too
	Exclude *Target // the output file, which is not read

	ctx       context.Context // of the current walk
	stdinRead bool            // standard input has been yielded
}

// Items yields what paths name, the files of a directory in the order of their full
// names, byte by byte. It looks at nothing before the loop asks for it, except that
// it reads each directory whole, to sort it: memory is the names of the directories
// above the current file.
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
		it.Kind = w.Stdin()
		return yield(it)
	}
	info, err := os.Stat(it.Path)
	switch {
	case err != nil:
		it.Err = err
	case info.IsDir():
		return w.dir(it.Path, nil, yield)
	case isSpecial(info.Mode()):
		it.Kind = Special
	}
	return yield(it)
}

// Stdin returns the kind of the next mention of standard input.
func (w *Walker) Stdin() Kind {
	if w.stdinRead {
		return StdinAgain
	}
	w.stdinRead = true
	return Stdin
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
	if !os.IsPathSeparator(path[len(path)-1]) {
		prefix += "/"
	}
	entries, err := w.read(prefix)
	if err != nil && !yield(Item{Path: path, Err: err}) {
		return false
	}
	for _, e := range entries {
		it := Item{Path: prefix + e.name}
		switch {
		case e.mode.IsDir():
			if !w.dir(strings.TrimSuffix(it.Path, "/"), above, yield) {
				return false
			}
			continue
		case w.Exclude.is(it.Path, e.name), tempName.MatchString(e.name):
			continue
		case isSpecial(e.mode):
			it.Kind = Skipped
		}
		if !yield(it) {
			return false
		}
	}
	return true
}

// entry is a name in a directory. The name of a directory ends in a slash, which sorts
// its files by their full names among its siblings: "a-b", "a/x", "a0".
type entry struct {
	name string
	mode fs.FileMode
}

// read returns the entries of the directory path, which ends in a slash, in the order of
// the walk. Symbolic links are left out, or with Follow have the type of what they lead
// to. With an error, read returns the entries that were read before it.
func (w *Walker) read(path string) ([]entry, error) {
	f, err := openWaiting(w.ctx, path, os.OpenFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := f.ReadDir(-1)
	entries := make([]entry, 0, len(all))
	for _, d := range all {
		e := entry{d.Name(), d.Type()}
		if e.mode&fs.ModeSymlink != 0 {
			if !w.Follow {
				continue
			}
			e.mode = 0 // opening a dangling link returns the error
			if info, err := os.Stat(path + e.name); err == nil {
				e.mode = info.Mode().Type()
			}
		}
		if e.mode.IsDir() {
			e.name += "/"
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return entries, err
}
