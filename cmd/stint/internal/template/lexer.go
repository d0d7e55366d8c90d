package template

import "strings"

// A quoting is the syntax around a byte, on which it depends how a reference is written
// there.
type quoting byte

const (
	word       quoting = iota // an ARG, which no shell reads
	code                      // the script itself
	parens                    // ( or $(, where quoting begins afresh
	backquotes                // `
	arithmetic                // $((, where dash refuses a quote
	double                    // "
	single                    // '
	ansi                      // $'
)

// A lexer finds the placeholders of an ARG, or of a script and how they are quoted there.
// It does not parse a script: it takes for code the text of a here-document and \" in
// backquotes in double quotes, and it loses count after the unbalanced ) of a case in $().
// A reference may then be split into words. It is never read as code.
type lexer struct {
	text, replace string
	pos, start    int       // start is the end of the last part
	nested        []quoting // around pos, outermost first; the first one is word or code
	parts         []part    // of the text before start
}

// parse returns the parts of text. Their texts are text.
func parse(text, replace string, in quoting) []part {
	l := lexer{text: text, replace: replace, nested: []quoting{in}}
	for l.pos < len(l.text) {
		p, ok := placeholder(l.text[l.pos:], l.replace)
		if !ok {
			l.pos += l.step()
			continue
		}
		l.endText()
		p.in = l.top()
		l.parts = append(l.parts, p)
		l.pos += len(p.text)
		l.start = l.pos
	}
	l.pos = len(l.text)
	l.endText()
	return l.parts
}

// endText makes a part of the text that ends at pos.
func (l *lexer) endText() {
	if l.start < l.pos {
		l.parts = append(l.parts, part{text: l.text[l.start:l.pos]})
	}
}

func (l *lexer) top() quoting { return l.nested[len(l.nested)-1] }

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
	case top == word && strings.HasPrefix(l.text[l.pos:], "${"): // ${1} belongs to a shell
		return 2
	case top == word:
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
