package chart

import "strings"

// textWidth estimates the width of a text for the widest of the fonts that
// browsers use for "system-ui".
func textWidth(s string, bold bool) float64 {
	em := 0.0
	for _, r := range s {
		em += advance(r)
	}
	if bold {
		em *= 1.16
	}
	return em * letter
}

// advance estimates the width of a letter relative to the font size.
func advance(r rune) float64 {
	switch {
	case strings.ContainsRune("ijlI.,:;|'! ", r):
		return 0.33
	case strings.ContainsRune("ftr/()[]-", r):
		return 0.4
	case strings.ContainsRune("mwMW@%+=×±", r):
		return 0.92
	case r >= 'A' && r <= 'Z':
		return 0.7
	case r >= 0x2e80: // East Asian letters, and symbols
		return 1.1
	}
	return 0.63
}

// wrap breaks a name after separators into lines of at most limit, unless a
// single part is wider.
func wrap(s string, bold bool, limit float64) []string {
	var lines []string
	row := ""
	for _, part := range parts(s) {
		if row != "" && textWidth(row+part, bold) > limit {
			lines = append(lines, strings.TrimSpace(row))
			row = ""
		}
		row += part
	}
	return append(lines, strings.TrimSpace(row))
}

// parts splits a name after separators.
func parts(s string) []string {
	var out []string
	from := 0
	for i, r := range s {
		if strings.ContainsRune("/ -+", r) {
			out = append(out, s[from:i+1])
			from = i + 1
		}
	}
	return append(out, s[from:])
}
