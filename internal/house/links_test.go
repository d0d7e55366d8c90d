package house

import (
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"
)

func TestLinksLeadSomewhere(t *testing.T) {
	one := func(text string) map[string]string {
		return map[string]string{"docs/a.md": text, "docs/b c.md": "", "x.go": "package x\n", "docs/design/a.md": ""}
	}
	verify(t, deadLinks,
		sample{"clean", one("[b](b%20c.md) [x](../x.go#L3) [d](design/) [/](/x.go) [t](design/a.md \"title\") ![i](<b c.md>)\n\n[r]: ../x.go\n"), ""},
		sample{"elsewhere", one("[w](https://example.org/a.md) [m](mailto:a@example.org) [#](#part) [s](//example.org/x)\n"), ""},
		sample{"code", one("`[a](none.md)`\n" + fence + "\n[a](none.md)\n" + fence + "\n"), ""},
		sample{"dead", one("\n[b](b.md)\n"), "docs/a.md:2: the link to b.md leads nowhere"},
		sample{"anchor", one("[b](none.go#L3)\n"), "the link to none.go#L3"},
		sample{"code as text", one("[`x`](y.go)\n"), "the link to y.go"},
		sample{"reference", one("[r]: y.go\n"), "the link to y.go"},
		sample{"outside", one("[r](../../x.go)\n"), "the link to ../../x.go"},
	)
}

// link is an inline link or image, or the definition of a reference.
var link = regexp.MustCompile(`\]\((?:<([^>]*)>|([^)\s]+))|^ {0,3}\[[^\]]+\]:\s+(\S+)`)

// span is code inside a line.
var span = regexp.MustCompile("`[^`]*`")

// deadLinks checks that relative links in Markdown files lead to a file or a
// directory of the repository. What follows a # is not looked at.
func deadLinks(t *tree) []string {
	var bad []string
	for _, f := range t.files {
		if path.Ext(f.path) != ".md" {
			continue
		}
		for i, line := range prose(f.text) {
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				if target := m[1] + m[2] + m[3]; !t.leads(f, target) {
					bad = append(bad, f.on(i+1, "the link to %s leads nowhere; correct it or remove it", target))
				}
			}
		}
	}
	return bad
}

// prose returns the lines of a Markdown text, with those of fenced blocks and
// the code in the others left out.
func prose(text string) []string {
	lines := unfenced(text)
	for i, line := range lines {
		lines[i] = span.ReplaceAllString(line, "code")
	}
	return lines
}

// unfenced returns the lines of a Markdown text, with those of fenced blocks empty.
func unfenced(text string) []string {
	lines := strings.Split(text, "\n")
	fenced := false
	for i, line := range lines {
		edge := strings.HasPrefix(strings.TrimSpace(line), fence)
		if fenced || edge {
			lines[i] = ""
		}
		fenced = fenced != edge
	}
	return lines
}

// leads reports whether a link in f leads out of the repository by its scheme
// or host, to a place in f itself, or to a file that exists.
func (t *tree) leads(f *file, target string) bool {
	u, err := url.Parse(target)
	if err != nil {
		return false
	}
	if u.Scheme != "" || u.Host != "" || u.Path == "" {
		return true
	}
	name := path.Join(f.dir(), u.Path)
	if rest, ok := strings.CutPrefix(u.Path, "/"); ok {
		name = path.Clean(rest)
	}
	_, err = fs.Stat(t.fsys, name)
	return err == nil
}
