package items

import (
	"errors"
	"strings"
)

// ParseDelimiter returns the byte that s means: its only byte, or one of the escapes
// \0 \a \b \t \n \v \f \r \\. The error says what to write, for a caller that says
// where s is from.
func ParseDelimiter(s string) (byte, error) {
	const letters, bytes = `0abtnvfr\`, "\x00\a\b\t\n\v\f\r\\"
	switch {
	case len(s) == 1:
		return s[0], nil
	case len(s) == 2 && s[0] == '\\':
		if i := strings.IndexByte(letters, s[1]); i >= 0 {
			return bytes[i], nil
		}
	}
	return 0, errors.New(`want one byte, or \n, \t, \0 or \\`)
}
