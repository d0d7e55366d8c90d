// Package features is the feature table of libraries for bounded concurrency. The answers are in answers.txt. A feature
// has a demonstration, in demonstration_test.go, which finds out the answer for a library, of the version in lab/go.mod; a
// library has an adapter, and demonstrations of its own where it differs. The tests compare both with the answers.
//
// This package reads the tests as text and imports no library.
package features

import (
	"cmp"
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// An Answer says whether a library has a feature.
type Answer string

// The answers. A combination of tasks alone, which block or start others, is no feature of a library: every library would
// have it.
const (
	Yes    Answer = "Yes"    // all of the feature's sentence, in a form that callers can choose
	Partly Answer = "Partly" // a part of it, or all with code of the caller's; the note says which
	No     Answer = "No"
)

// A Library is a column of the table.
type Library struct {
	Name    string // "errgroup"
	Module  string // "golang.org/x/sync"
	Version string // as in lab/go.mod; "(devel)" for this repository
}

// A Feature is a row of the table.
type Feature struct {
	Name  string // "Worker reuse"
	Doc   string // one sentence
	Cells []Cell // in the order of the libraries
}

// A Cell is the answer for one library and one feature.
type Cell struct {
	Library string // its name
	Answer  Answer
	Note    string // how, or why not; may be empty for Yes
	File    string // file of the demonstration: "lab/features/demonstration_test.go"
	Line    int    // its first line
	Survey  Survey // what the article says, in the table of Survey
}

// A Survey is the answer of the article that compares errgroup, conc and ants.
type Survey struct {
	Answer Answer
	Why    string // why the table's answer is another one: a sentence
}

// A Table holds the answers for all libraries and features.
type Table struct {
	Libraries []Library
	Features  []Feature
}

// Survey returns the article's table of three libraries and five features, beside the answers here.
func (t Table) Survey() Table {
	features := []string{"Worker reuse", "Context", "Waiting for all", "Errors", "Resizing"}
	out := t.Only(features, "pond", "workerpool", "rill", "stint")
	for _, f := range out.Features {
		for l := range f.Cells {
			c := &f.Cells[l]
			c.Survey = survey[c.Library+": "+f.Name]
			c.Survey.Answer = cmp.Or(c.Survey.Answer, c.Answer)
		}
	}
	return out
}

// Only returns the table with the named features, in the order of the names, and without the named libraries.
func (t Table) Only(names []string, without ...string) (out Table) {
	out.Libraries = slices.DeleteFunc(slices.Clone(t.Libraries), func(l Library) bool { return slices.Contains(without, l.Name) })
	for _, name := range names {
		f := t.Features[slices.IndexFunc(t.Features, func(f Feature) bool { return f.Name == name })]
		f.Cells = slices.DeleteFunc(slices.Clone(f.Cells), func(c Cell) bool { return slices.Contains(without, c.Library) })
		out.Features = append(out.Features, f)
	}
	return out
}

//go:embed answers.txt *_test.go
var files embed.FS

// All returns the table. It returns an error if an answer is missing or has no note.
func All() (Table, error) {
	t := Table{Libraries: libraries}
	answers, err := files.ReadFile("answers.txt")
	if err != nil {
		return t, err
	}
	for block := range strings.SplitSeq(strings.TrimSpace(string(answers)), "\n\n") {
		if strings.HasPrefix(block, "#") {
			continue
		}
		lines := strings.Split(block, "\n\t")
		f := Feature{}
		f.Name, f.Doc, _ = strings.Cut(lines[0], ": ")
		if len(lines) != 1+len(libraries) {
			return t, fmt.Errorf("features: %s has %d answers, want %d", f.Name, len(lines)-1, len(libraries))
		}
		for i, l := range libraries {
			library, text, _ := strings.Cut(lines[1+i], " ")
			answer, note, _ := strings.Cut(text, " ")
			c := Cell{Library: l.Name, Answer: Answer(answer), Note: note}
			if known := c.Answer == Yes && c.Note == "" || strings.HasSuffix(c.Note, "."); library != l.Name || !known {
				return t, fmt.Errorf("features: %s: %q is no answer for %s with a sentence", f.Name, lines[1+i], l.Name)
			}
			c.File, c.Line = demonstrated(f.Name, l.Name)
			f.Cells = append(f.Cells, c)
		}
		t.Features = append(t.Features, f)
	}
	return t, nil
}

// demonstrated returns where the demonstration of a feature begins: the library's own, or that for all.
func demonstrated(feature, library string) (file string, line int) {
	named := regexp.MustCompile(`"` + feature + `":\s+(\w+)`)
	for _, file := range []string{library + "_test.go", "demonstration_test.go"} {
		text, _ := files.ReadFile(file) // the tests show that it is there
		at := named.FindSubmatchIndex(text)
		if at == nil {
			continue
		}
		if file == "demonstration_test.go" { // in its table
			at = regexp.MustCompile(`(?m)^func ` + string(text[at[2]:at[3]]) + `\(`).FindIndex(text)
		}
		return "lab/features/" + file, 1 + strings.Count(string(text[:at[0]]), "\n")
	}
	return "", 0
}

// survey has the answers of the article that differ from the table's.
var survey = map[string]Survey{
	"errgroup: Context":     {Yes, "The article counts the context of WithContext; here it is a part of the answer, since no task is given it."},
	"conc: Waiting for all": {Yes, "The article counts conc.WaitGroup and Wait of a pool; here it is a part of the answer, since Wait ends the pool."},
	"ants: Waiting for all": {No, "In this version ReleaseContext waits for all tasks, but it closes the pool."},
	"ants: Resizing":        {Yes, "Tune raises the limit at once; after it lowers the limit, workers that are idle still count."},
}

// libraries has stint last, and the others in the order of the survey. A new version may have what was missing.
var libraries = []Library{
	{"errgroup", "golang.org/x/sync", "v0.24.0"},
	{"conc", "github.com/sourcegraph/conc", "v0.3.0"},
	{"ants", "github.com/panjf2000/ants/v2", "v2.12.1"},
	{"pond", "github.com/alitto/pond/v2", "v2.7.1"},
	{"workerpool", "github.com/gammazero/workerpool", "v1.3.0"},
	{"rill", "github.com/destel/rill", "v0.7.0"},
	{"stint", "github.com/stint-go/stint", "(devel)"},
}
