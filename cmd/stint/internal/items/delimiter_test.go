package items

import "testing"

func TestParseDelimiter(t *testing.T) {
	for s, want := range map[string]byte{
		":": ':', " ": ' ', `\n`: '\n', `\t`: '\t', `\0`: 0, `\\`: '\\', `\`: '\\', "\n": '\n', "\x00": 0, "\xff": 0xff,
		`\a`: '\a', `\b`: '\b', `\v`: '\v', `\f`: '\f', `\r`: '\r',
	} {
		if got, err := ParseDelimiter(s); got != want || err != nil {
			t.Errorf("ParseDelimiter(%q) is %q, %v; want %q", s, got, err, want)
		}
	}
	for _, s := range []string{"", "ab", `\q`, `\x3a`, `\072`, "é", `\00`, `\é`} {
		_, err := ParseDelimiter(s)
		if err == nil || err.Error() != `want one byte, or \n, \t, \0 or \\` {
			t.Errorf("ParseDelimiter(%q): error %v", s, err)
		}
	}
}
