package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Bytes formats a number of bytes with three digits and a decimal unit.
func Bytes(n float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB", "EB"}
	i := 0
	for n >= 999.5 && i < len(units)-1 {
		n /= 1000
		i++
	}
	if i == 0 || n >= 99.95 {
		return fmt.Sprintf("%.0f %s", n, units[i])
	}
	return fmt.Sprintf("%.1f %s", n, units[i])
}

// Elapsed formats a measured duration with three digits, or to the second.
func Elapsed(d time.Duration) string {
	unit := time.Millisecond
	for d >= 1000*unit && unit < time.Second {
		unit *= 10
	}
	return d.Round(unit).String()
}

// Rate formats a number of things a second.
func Rate(n float64) string {
	if n >= 100 {
		return fmt.Sprintf("%.0f/s", n)
	}
	return fmt.Sprintf("%.3g/s", n)
}

// JSON returns v as a line of JSON. It panics if v has a type that JSON cannot have.
func JSON(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return b.Bytes()
}
