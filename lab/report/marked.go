package report

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// mark matches the lines around a generated part, whose first line may name it.
var mark = regexp.MustCompile(`(?m)^<!-- lab:(begin|end)(?: ([a-z]+))? -->\n`)

var errMarks = errors.New("want lines <!-- lab:begin --> or <!-- lab:begin NAME -->, and after each a line <!-- lab:end -->")

// Replace returns text with its marked parts replaced by the named ones. The
// part of a mark without a name is "".
func Replace(text string, parts map[string]string) (string, error) {
	marks := mark.FindAllStringSubmatchIndex(text, -1)
	if len(marks) == 0 || len(marks)%2 != 0 {
		return "", errMarks
	}
	out, done := "", 0
	for pair := range slices.Chunk(marks, 2) {
		begin, end := pair[0], pair[1]
		if text[begin[2]:begin[3]] != "begin" || text[end[2]:end[3]] != "end" {
			return "", errMarks
		}
		name := string(mark.ExpandString(nil, "$2", text, begin))
		part, ok := parts[name]
		if !ok {
			return "", fmt.Errorf("no part %q: there are %q", name, slices.Sorted(maps.Keys(parts)))
		}
		out += text[done:begin[1]] + "\n" + part + "\n"
		done = end[0]
	}
	return out + text[done:], nil
}
