package items

import (
	"io"
	"regexp"
)

// Options say where the items come from and how many of them a job gets.
type Options struct {
	Files []string   // files of items; "-", once at most, is standard input
	Lists [][]string // further sources, after Files; without any source, it is "-"

	Open func(name string) (io.ReadCloser, error) // opens a file of Files

	Delimiter byte           // ends an item of a file; a zero is NUL, not newline
	MaxItem   int            // bytes that an item of a file may have; 0 is any number
	ColSep    *regexp.Regexp // splits an item into columns, unless it is nil
	Trim      bool           // remove white space around items and columns
	MaxArgs   int            // combinations that a job gets at most; 0 is one, or with Fit any number

	// Budget, unless it is 0, bounds the sum of Cost over the items of a job. A combination
	// that has a higher cost by itself gets a job of its own.
	Budget int
	Cost   func(item string) int

	// Fit gives a job as many combinations as Budget allows. The last ones are spread over
	// Jobs jobs.
	Fit  bool
	Jobs int
}
