package machine

import (
	"strings"
	"testing"
)

// TestParseSize compares with what GNU parallel 20221122 makes of these.
func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1000": 1000, "300M": 314572800, "2G": 2147483648, "1.5G": 1610612736,
		"512k": 512000, "1K": 1024, "1Ki": 1024, "1ki": 1024, "1Mi": 1 << 20, "1mi": 1 << 20,
		"1m": 1e6, "1g": 1e9, "1t": 1e12, "1p": 1e15, "1e": 1e18,
		"1T": 1 << 40, "1P": 1 << 50, "7E": 7 << 60, ".5k": 500, "2.k": 2000, "1.9": 1,
		"9007199254740992": 1 << 53,
	} {
		if got, err := ParseSize(text); got != want || err != nil {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
}

func TestParseSizeErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "size is empty",
		"-5":                             `size "-5" is negative`,
		"-1.5G":                          "is negative",
		"8E":                             `size "8E" is too large`,
		"9223372036854775808":            "is too large",
		strings.Repeat("9", 400):         "is too large",
		strings.Repeat("9", 400) + ".0k": "is too large",
		strings.Repeat("9", 400) + "x":   "is not a number",
		"1Z":                             `size "1Z" is not a number with one of the units`,
		"5MB":                            "units", "5Mib": "units", "5mb": "units", "1e3": "units", "M": "units", ".": "units", "1.2.3": "units",
		" 1": "units", "1 M": "units", "1M-2k": "units", "0x10": "units", "inf": "units", "NaN": "units", "+1": "units", "1\x00": "units", "1é": "units",
	} {
		if got, err := ParseSize(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseSize(%.20q) = %d, %v, want an error with %q", text, got, err, want)
		}
	}
}
