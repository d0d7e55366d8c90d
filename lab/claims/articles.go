package claims

import (
	"embed"
	"io/fs"
	"strings"
)

// The authors' own figures, in the Go benchmark format.
//
//go:embed articles
var files embed.FS

// Articles are the sections of BENCHMARKS.md, in its order; our own conclusions are the last.
var Articles = []Article{Pools, Scheduling, Survey, Workerpool, Channels, Ours}

// Theirs returns the author's results that match a filter.
func (a Article) Theirs(filter string) (Results, error) {
	dir, err := fs.Sub(files, "articles")
	if err != nil || a.File == "" {
		return Results{Exact: true}, err
	}
	r, err := Read(filter, dir, a.File)
	r.Exact = true
	return r, err
}

// Here returns the results of a directory of benchmarks that match a filter. The results of lab/scheduling/add are in
// the file scheduling-add.txt of dir.
func Here(dir fs.FS, in, filter string) (Results, error) {
	return Read(filter, dir, FileOf(in))
}

// FileOf returns the name of the file with the results of a directory of benchmarks.
func FileOf(in string) string { return strings.ReplaceAll(in, "/", "-") + ".txt" }
