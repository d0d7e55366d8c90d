package house

import (
	"path"
	"strings"
	"testing"
)

// replacing are the modules that may hold a replace. A module with one cannot
// be installed by version, so it is for modules that are never released.
var replacing = map[string]string{
	"lab": "compares this working copy with its peers; never released",
}

func TestModules(t *testing.T) {
	const head = "module github.com/stint-go/stint\n\ngo 1.26\n"
	verify(t, modules,
		sample{"clean", map[string]string{"go.mod": head, "lab/go.mod": "module github.com/stint-go/stint/lab\nreplace a => ../\n"}, ""},
		sample{"none", map[string]string{}, "go.mod:1: missing"},
		sample{"require", map[string]string{"go.mod": head + "require example.org/a v1.0.0\n"}, "go.mod:4: require"},
		sample{"block", map[string]string{"go.mod": head + "\nrequire (\n\texample.org/a v1.0.0\n)\n"}, "go.mod:5: require"},
		sample{"replace", map[string]string{"go.mod": head + "replace a => b\n"}, "go.mod:4: replace"},
		sample{"tool", map[string]string{"go.mod": head + "tool example.org/a\n"}, "go.mod:4: tool"},
		sample{"command", map[string]string{"go.mod": head, "cmd/stint/go.mod": "module github.com/stint-go/stint/cmd/stint\nreplace a => b\n"}, "cmd/stint/go.mod:2: replace"},
		sample{"client", map[string]string{"go.mod": head, "cluster/go.mod": "module github.com/stint-go/stint/cluster\nrequire github.com/nats-io/nats.go v1.0.0\n"}, ""},
		sample{"server", map[string]string{"go.mod": head, "cluster/go.mod": "module github.com/stint-go/stint/cluster\nrequire (\n\tgithub.com/nats-io/nats-server/v2 v2.0.0 // indirect\n)\n"}, "cluster/go.mod:3: nats-server"},
		sample{"path", map[string]string{"go.mod": head, "lab/go.mod": "module example.org/lab\n"}, "lab/go.mod:1: module example.org/lab"},
	)
}

// modules checks what go.mod files say: the root needs nothing, not even for
// its tests, and who connects to a server does not get one.
func modules(t *tree) []string {
	if t.file("go.mod") == nil {
		return []string{"go.mod:1: missing; the root of the repository is a module"}
	}
	var bad []string
	for _, f := range t.files {
		if path.Base(f.path) == "go.mod" {
			bad = append(bad, directives(f)...)
		}
	}
	return bad
}

// directives checks the lines of one go.mod. It looks at the first word of a
// line only, which finds single directives and the heads of blocks alike.
func directives(f *file) []string {
	var bad []string
	dir := f.dir()
	for i, line := range strings.Split(f.text, "\n") {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case verb == "module" && strings.TrimSpace(rest) != path.Join(modulePath, dir):
			bad = append(bad, f.on(i+1, "module %s; want %s, as its directory says", rest, path.Join(modulePath, dir)))
		case dir == "." && (verb == "require" || verb == "tool"):
			bad = append(bad, f.on(i+1, "%s in the root module; it needs nothing, not even for tests: use the standard library, or move the code to another module", verb))
		case dir == "cluster" && strings.Contains(line, "nats-server"):
			bad = append(bad, f.on(i+1, "nats-server in the module of those who have one elsewhere; what needs it is in cluster/embedded, tests too"))
		case verb == "replace" && replacing[dir] == "":
			bad = append(bad, f.on(i+1, "replace; a module with one cannot be installed by version: remove it, go.work already joins the modules"))
		}
	}
	return bad
}

func TestLicences(t *testing.T) {
	verify(t, licences,
		sample{"same", map[string]string{"go.mod": "", "LICENSE": "MIT", "lab/go.mod": "", "lab/LICENSE": "MIT"}, ""},
		sample{"none", map[string]string{"go.mod": "", "LICENSE": "MIT", "lab/go.mod": ""}, "lab/LICENSE:1: missing"},
		sample{"other", map[string]string{"go.mod": "", "LICENSE": "MIT", "lab/go.mod": "", "lab/LICENSE": "BSD"}, "lab/LICENSE:1: differs"},
		sample{"no root", map[string]string{"go.mod": ""}, "LICENSE:1: missing"},
	)
}

// licences checks that each module holds the licence: a module is distributed
// without the directories above it.
func licences(t *tree) []string {
	var bad []string
	root := t.file("LICENSE")
	for _, f := range t.files {
		if path.Base(f.path) != "go.mod" {
			continue
		}
		name := path.Join(f.dir(), "LICENSE")
		switch have := t.file(name); {
		case have == nil:
			bad = append(bad, name+":1: missing; copy the LICENSE of the root, each module is distributed with its own")
		case root != nil && have.text != root.text:
			bad = append(bad, have.on(1, "differs from the LICENSE of the root; copy that one"))
		}
	}
	return bad
}
