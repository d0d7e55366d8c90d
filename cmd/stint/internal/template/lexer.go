package template

import "strings"

// A quoting is the syntax around a byte of a script, on which it depends how a
// reference is written there.
type quoting byte

const (
	code       quoting = iota // the script itself
	parens                    // ( or $(, where quoting begins afresh
	backquotes                // `
	arithmetic                // $((, where dash refuses a quote
	double                    // "
	single                    // '
	ansi                      // $'
)

// A reference is a part of a script. A placeholder is written as a reference to a
// parameter.
type reference struct {
	part
	in quoting
}

// A lexer finds the placeholders of a script and how they are quoted. It does not parse.
// It takes for code the text of a here-document and \" in backquotes in double quotes,
// and it loses count after the unbalanced ) of a case in $(). A reference may then be
// split into words. It is never read as code.
type lexer struct {
	text, replace string
	pos, start    int         // start is the end of the last part
	nested        []quoting   // around pos, outermost first
	parts         []reference // of the text before start
}

// run reads the whole script.
func (l *lexer) run() {
	for l.pos < len(l.text) {
		p, ok := placeholder(l.text[l.pos:], l.replace)
		if !ok {
			l.pos += l.step()
			continue
		}
		l.endText()
		l.parts = append(l.parts, reference{p, l.top()})
		l.pos += len(p.text)
		l.start = l.pos
	}
	l.pos = len(l.text)
	l.endText()
}

// endText makes a part of the text that ends at pos.
func (l *lexer) endText() {
	if l.start < l.pos {
		l.parts = append(l.parts, reference{part: part{text: l.text[l.start:l.pos]}})
	}
}

func (l *lexer) top() quoting {
	if len(l.nested) == 0 {
		return code
	}
	return l.nested[len(l.nested)-1]
}

func (l *lexer) push(q quoting) { l.nested = append(l.nested, q) }

// toggle ends q if it is the innermost quoting, and begins it otherwise.
func (l *lexer) toggle(q quoting) {
	if l.top() == q {
		l.nested = l.nested[:len(l.nested)-1]
	} else {
		l.push(q)
	}
}

// step reads the byte at pos, and returns how many bytes it has read. A placeholder
// begins at none of them but the first, which is known not to begin one.
func (l *lexer) step() int {
	c, top := l.text[l.pos], l.top()
	switch {
	case c == '\\' && top != single:
		return 2
	case c == '\'' && top >= single:
		l.toggle(top)
	case top >= single:
	case c == '$':
		return l.dollar()
	case c == '"':
		l.toggle(double)
	case c == '`':
		l.toggle(backquotes)
	case top == double:
	case c == '\'':
		l.push(single)
	case c == '(' && top == arithmetic:
		l.push(arithmetic)
	case c == '(':
		l.push(parens)
	case c == ')' && (top == parens || top == arithmetic):
		l.toggle(top)
	case c == '#' && l.wordStart():
		return strings.IndexByte(l.text[l.pos:]+"\n", '\n')
	}
	return 1
}

// dollar is step for a $ outside single quotes. What follows it is no placeholder.
func (l *lexer) dollar() int {
	rest := l.text[l.pos+1:]
	switch {
	case l.replace != "" && strings.HasPrefix(rest, l.replace):
		return 1 + len(l.replace)
	case strings.HasPrefix(rest, "(("):
		l.push(arithmetic)
		l.push(arithmetic)
		return 3
	case strings.HasPrefix(rest, "("):
		l.push(parens)
		return 2
	case strings.HasPrefix(rest, "'") && l.top() != double:
		l.push(ansi)
		return 2
	case strings.HasPrefix(rest, "{"), strings.HasPrefix(rest, "$"):
		return 2
	}
	return 1
}

// wordStart reports whether a word may begin at pos.
func (l *lexer) wordStart() bool {
	return l.pos == 0 || strings.IndexByte(" \t\n;&|()`", l.text[l.pos-1]) >= 0
}
