package items

import (
	"io"
	"regexp"
)

// Options say where the items come from and how many of them a job gets.
type Options struct {
	Files []string   // files of items; "-" is Stdin
	Lists [][]string // further sources, after Files
	Stdin io.Reader  // read if Files has "-", or if there are neither Files nor Lists

	// Open opens a file of Files. If it is nil, os.Open does.
	Open func(name string) (io.ReadCloser, error)

	Delimiter byte           // ends an item of a file; a zero is NUL, not newline
	ColSep    *regexp.Regexp // splits an item into columns, unless it is nil
	Trim      bool           // remove white space around items and columns
	MaxArgs   int            // combinations that a job gets; 0 is one, or with Budget any number

	// Budget, unless it is 0, gives a job as many combinations as fit: the sum of Cost
	// over their items is at most Budget. The last items are spread over Jobs jobs.
	Budget int
	Cost   func(item string) int
	Jobs   int
}
