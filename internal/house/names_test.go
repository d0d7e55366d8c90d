package house

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// meaningless are names that say nothing of what is inside.
var meaningless = []string{"util", "utils", "common", "helper", "helpers", "types", "misc"}

func TestFilesAndPackagesAreNamed(t *testing.T) {
	verify(t, badNames,
		sample{"clean", map[string]string{"group.go": "package stint\n", "group_test.go": "package stint\n", "docs/types.md": ""}, ""},
		sample{"never run", map[string]string{"group_test_linux.go": "package stint\n"}, "group_test_linux.go:1: _test in the middle"},
		sample{"other end", map[string]string{"par/map_test.txt": ""}, "par/map_test.txt:1: _test in the middle"},
		sample{"file", map[string]string{"par/helpers.go": "package par\n"}, "par/helpers.go:1: helpers says nothing"},
		sample{"package", map[string]string{"internal/a/a.go": "package common\n"}, "internal/a/a.go:1: common says nothing"},
		sample{"directory", map[string]string{"internal/util/a.go": "package a\n"}, "internal/util/a.go:1: util says nothing"},
	)
}

// badNames checks the names of files, directories and packages. A file with
// _test in the middle of its name is compiled into the library and its tests
// never run.
func badNames(t *tree) []string {
	var bad []string
	for _, f := range t.files {
		base := path.Base(f.path)
		if strings.Contains(base, "_test") && !f.test() {
			bad = append(bad, f.on(1, "_test in the middle of the name; a test file ends in _test.go"))
		}
		if f.syntax == nil {
			continue
		}
		for _, name := range []string{strings.TrimSuffix(base, ".go"), path.Base(f.dir()), f.syntax.Name.Name} {
			if slices.Contains(meaningless, name) {
				bad = append(bad, f.on(1, "%s says nothing; name files and packages after what they give", name))
				break
			}
		}
	}
	return bad
}

func TestNothingNamesAMachine(t *testing.T) {
	one := func(text string) map[string]string { return map[string]string{"a.md": "\n" + text + "\n"} }
	verify(t, machineWords,
		sample{"clean", one("internal/home/queue.go ./home/a $TOP/home/a home/ /homework/ https://example.org/home/"), ""},
		sample{"home", one("see `/" + "home/ann/stint`"), "a.md:2: /" + "home/ann"},
		sample{"macOS", one("/" + "Users/ann/go"), "a.md:2: /" + "Users/ann"},
		sample{"root", map[string]string{".ci/run": "cd /" + "root/go\n"}, ".ci/run:1: /" + "root/go"},
	)
}

// machinePath is a path below somebody's home. Before it there is nothing that a
// relative path or an address could end with.
var machinePath = regexp.MustCompile(`(?:^|[^\w.\-/*$})\]])(/(?:home|Users|root)/\w+)`)

// machineWords checks that no text of the repository names a place of the
// machine it was written on.
func machineWords(t *tree) []string {
	var bad []string
	for _, f := range t.files {
		for i, line := range strings.Split(f.text, "\n") {
			if m := machinePath.FindStringSubmatch(line); m != nil {
				bad = append(bad, f.on(i+1, "%s is a place on one machine; name it relative to the repository", m[1]))
			}
		}
	}
	return bad
}
