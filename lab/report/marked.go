package report

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

var (
	mark = regexp.MustCompile(`(?m)^<!-- lab:(?:begin(?: [a-z]+)?|end) -->\n`)
	part = regexp.MustCompile(`(?ms)^(<!-- lab:begin(?: ([a-z]+))? -->\n).*?^(<!-- lab:end -->\n)`)
)

var errMarks = errors.New("want lines <!-- lab:begin --> or <!-- lab:begin NAME -->, and after each a line <!-- lab:end -->")

// Replace returns text with its marked parts replaced by the named ones. The
// part of a mark without a name is "".
func Replace(text string, parts map[string]string) (string, error) {
	n := len(part.FindAllString(text, -1))
	if n == 0 || len(mark.FindAllString(text, -1)) != 2*n {
		return "", errMarks
	}
	var err error
	text = part.ReplaceAllStringFunc(text, func(old string) string {
		m := part.FindStringSubmatch(old)
		found, ok := parts[m[2]]
		if !ok {
			err = fmt.Errorf("no part %q: there are %q", m[2], slices.Sorted(maps.Keys(parts)))
		}
		return m[1] + "\n" + found + "\n" + m[3]
	})
	return text, err
}
