package report

import (
	"errors"
	"strings"
)

// Between these two lines a text is the laboratory's.
const (
	beginMark = "<!-- lab:begin -->\n"
	endMark   = "<!-- lab:end -->\n"
)

var errMarks = errors.New("no lines " + strings.TrimSpace(beginMark) + " and " + strings.TrimSpace(endMark) + ", once each and in this order")

// Replace returns text with what is between its marks replaced.
func Replace(text, between string) (string, error) {
	before, rest, ok := strings.Cut(text, beginMark)
	_, after, closed := strings.Cut(rest, endMark)
	if !ok || !closed || strings.Contains(rest, beginMark) || strings.Contains(after, endMark) {
		return "", errMarks
	}
	return before + beginMark + "\n" + between + "\n" + endMark + after, nil
}
