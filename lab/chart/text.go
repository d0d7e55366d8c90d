package chart

import "strings"

// breadth is about how wide a text is. It takes the wide ones among the fonts
// that browsers take for "system-ui", so that there is room in any of them.
func breadth(s string, bold bool) float64 {
	em := 0.0
	for _, r := range s {
		em += advance(r)
	}
	if bold {
		em *= 1.16
	}
	return em * letter
}

// advance is how wide a letter is, as a part of the height of letters.
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
	case r >= 0x2e80: // letters of East Asia, and signs
		return 1.1
	}
	return 0.63
}

// wrap cuts a name behind signs that join its parts, so that no line of it is
// wider than limit, unless one part is.
func wrap(s string, bold bool, limit float64) []string {
	var lines []string
	row := ""
	for _, part := range parts(s) {
		if row != "" && breadth(row+part, bold) > limit {
			lines = append(lines, strings.TrimSpace(row))
			row = ""
		}
		row += part
	}
	return append(lines, strings.TrimSpace(row))
}

// parts are the pieces between which a name may be cut.
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
