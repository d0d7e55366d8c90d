package house

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// words are refused, as regular expressions for whole words in lower case: "give back" is
// giveBack and GiveBack as well. In code, names and comments are searched; in Markdown
// files, everything but code. The first column says what to write instead.
var words = []struct {
	new, old string
	in       []string // only there: directories, as in the table of edges
	names    bool     // only in names: in prose it is an ordinary word
}{
	{"adaptive limit", `limits? (that )?finds? itself`, nil, false},
	{"workload; supersede, start before; sleeps; cluster digester; processes", `plants?|overtakes?|overtaken|naps|askers?|crews?`, nil, false},
	{"loan, return; sender, receiver; spare worker", `give back|given back|visitors?|outlets?|inlets?|stand by|standbys?`, code, false},
	{"outcome; controller, search; backoff, ceiling, idle", `verdicts?|tuners?|finders?|retreats?|roofs?|lulls?`, code, false},
	{"cluster.Client", `cluster engines?`, cluster, false},
	{"go statements", `births?`, nil, true},
	{"short; fast-path signs; slow start; WaitIdle, isIdle, untracked", `brief|calm|rise|quiet`, code, true},
	{"permit, node, executor, slot; entry point; driver", `places?|doors?|drives?`, code, true},
	{"batch", `pieces?`, []string{"stream"}, true},
	{"batch", `paces?|seats?|spans?`, []string{"internal/loop", "par"}, true},
	{"claim cache", `hand`, []string{"internal/work"}, true},
	{"fifo, node", `lines?`, []string{"internal/limit", "internal/fifo", "internal/work"}, true},
	{"NotifyWaiting; sampler", `press|meters?`, []string{"internal/auto", "internal/loop", "internal/work", "errgroup"}, true},
	{"what of what, as in minTimedItems", `few|most|worth`, []string{"internal/auto", "internal/loop", "internal/work"}, true},
	{"heartbeat, consume, cleanup; DeadLetter, quarantine", `tend|hear|erase|asides?|suspects?`, cluster, true},
	{"interruptible reader", `patients?`, []string{"cmd/stint/...", "lab/..."}, true},
}

var (
	code    = []string{".", "par", "stream", "errgroup", "debug", "internal/..."}
	cluster = []string{"cluster/...", "cmd/stint/...", "lab/..."}
)

func TestWords(t *testing.T) {
	try(t, refusedWords,
		sample{"clean", map[string]string{"a.go": "package p\n\n// In place.\nvar a = 1\n", "a.md": "A door. `plant`\n"}, ""},
		sample{"two words", one("a.go", "package p\n\nfunc GiveBack() {}\n"), "a.go:3: give back"},
		sample{"comment", one("a.go", "package p\n\n// A plant.\nvar a = 1\n"), "a.go:3: // a plant."},
		sample{"markdown", one("a.md", "\nA\nlimit that finds itself\n"), "a.md:3: limit that finds itself"},
		sample{"file", one("internal/a/retreat_test.go", "package p\n"), "internal/a/retreat_test.go:1: retreat"},
		sample{"elsewhere", one("cluster/a.go", "package p\n\nvar seats, doors = 1, 2\n"), ""},
	)
	hold(t, refusedWords)
}

// camel is where a word ends in a name.
var camel = regexp.MustCompile(`([a-z0-9])([A-Z])|_`)

func split(name string) string {
	return strings.ToLower(camel.ReplaceAllString(name, "$1 $2"))
}

// refusedWords checks the names in Go files and of them, comments, and Markdown files.
func refusedWords(t *tree) []string {
	var bad []string
	for _, w := range words {
		old := regexp.MustCompile(`\b(?:` + w.old + `)\b`)
		for _, f := range t.files {
			if f.dir() == "internal/house" || f.path == "BENCHMARKS.md" || w.in != nil && !inAny(w.in, f.dir()) {
				continue
			}
			for text, line := range f.words(w.names) {
				if old.MatchString(text) {
					bad = append(bad, f.on(line, "%s: write %s", text, w.new))
				}
			}
		}
	}
	slices.Sort(bad)
	return bad
}

// words returns the names of a Go file, and, unless they are all, the lines of its comments
// or of a Markdown text, each with a line that it is on.
func (f *file) words(names bool) map[string]int {
	lines := map[string]int{}
	if path.Ext(f.path) == ".md" && !names {
		for i, line := range unfenced(f.text) {
			lines[strings.ToLower(span.ReplaceAllString(line, ""))] = i + 1
		}
	}
	if f.syntax == nil {
		return lines
	}
	lines[split(strings.TrimSuffix(path.Base(f.path), ".go"))] = 1
	for n := range ast.Preorder(f.syntax) {
		if id, ok := n.(*ast.Ident); ok {
			lines[split(id.Name)] = f.line(id.Pos())
		}
	}
	for _, group := range f.syntax.Comments {
		for _, c := range group.List {
			if !names {
				lines[strings.ToLower(c.Text)] = f.line(c.Pos())
			}
		}
	}
	return lines
}
