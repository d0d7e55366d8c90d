package machine

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Size is a flag: a number of bytes, such as 300M.
type Size int64

// Set parses s.
func (b *Size) Set(s string) error {
	n, err := ParseSize(s)
	if err == nil {
		*b = Size(n)
	}
	return err
}

// String formats b; "" is the default of a flag.
func (b *Size) String() string {
	switch n := int64(*b); {
	case n == 0:
		return ""
	case n%(1<<20) == 0:
		return strconv.FormatInt(n>>20, 10) + "M"
	default:
		return strconv.FormatInt(n, 10)
	}
}

// Type returns the name of the value in the help.
func (b *Size) Type() string { return "size" }

// ParseSize returns the number of bytes that text means, as GNU parallel reads it: a number,
// with a fraction or not, and a unit. K, M, G, T, P and E are powers of 1024, k, m, g, t, p and
// e powers of 1000; Ki or ki is 1024, and so on. A part of a byte is dropped. Unlike GNU
// parallel, ParseSize does not calculate: "1M-2k" is an error, and so is a negative size.
func ParseSize(text string) (int64, error) {
	end := len(text) - len(strings.TrimLeft(text, "0123456789."))
	value, err := strconv.ParseFloat(text[:end], 64)
	tooLarge := errors.Is(err, strconv.ErrRange)
	unit, isBinary := strings.CutSuffix(text[end:], "i")
	power := strings.Index(" kmgtpe", strings.ToLower(cmp.Or(unit, " ")))
	switch {
	case text == "":
		return 0, errors.New("size is empty")
	case text[0] == '-':
		return 0, fmt.Errorf("size %q is negative", text)
	case err != nil && !tooLarge, len(unit) > 1, unit == " ", power < 0, power == 0 && isBinary:
		return 0, fmt.Errorf("size %q is not a number with one of the units K, M, G, T, P, E (1024) and k, m, g, t, p, e (1000)", text)
	}
	base := 1000.0
	if isBinary || unit != strings.ToLower(unit) {
		base = 1024
	}
	if value *= math.Pow(base, float64(power)); tooLarge || value >= 1<<63 {
		return 0, fmt.Errorf("size %q is too large", text)
	}
	return int64(value), nil
}
