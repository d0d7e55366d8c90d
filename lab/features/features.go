// Package features is the feature table of libraries for bounded concurrency. A feature has
// a demonstration, in demonstration_test.go, which finds out the answer for a library, of the
// version in lab/go.mod. A library has an adapter, with the expected answers:
//
//	"Tasks from tasks": {Partly, "While workers are free.", nil},
//
// This package reads the tests as text and imports no library.
package features

import (
	"fmt"
	"slices"
)

// An Answer says whether a library has a feature.
type Answer string

// The answers. A combination of tasks alone, which block or start others, is no
// feature of a library: every library would have it.
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
	Name string // "Worker reuse"
	Doc  string // one sentence
}

// A Cell is the answer for one library and one feature.
type Cell struct {
	Answer Answer
	Note   string // how, or why not; may be empty for Yes
	Test   string // "TestCells/Worker_reuse/errgroup": go test ./lab/features -run takes it
	File   string // file of the answer: "lab/features/errgroup_test.go"
	Line   int    // first line of the answer
	Source string // the answer, its demonstration, and what that uses of the library's adapter
	Survey Survey // what the article says; empty: nothing that is known
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
	Cells     [][]Cell // Cells[f][l] is about Features[f] and Libraries[l]
}

// Only returns the table with the named features, in the order of the names, and without
// the named libraries.
func (t Table) Only(names []string, without ...string) Table {
	var out Table
	kept := func(l Library) bool { return !slices.Contains(without, l.Name) }
	for _, l := range t.Libraries {
		if kept(l) {
			out.Libraries = append(out.Libraries, l)
		}
	}
	for _, name := range names {
		i := slices.IndexFunc(t.Features, func(f Feature) bool { return f.Name == name })
		var cells []Cell
		for j, c := range t.Cells[i] {
			if kept(t.Libraries[j]) {
				c.Survey = Survey{}
				cells = append(cells, c)
			}
		}
		out.Features, out.Cells = append(out.Features, t.Features[i]), append(out.Cells, cells)
	}
	return out
}

// All returns the table. It returns an error if a cell is missing or has no note.
func All() (Table, error) {
	t := Table{libraries, features, make([][]Cell, len(features))}
	demonstrations, err := tests.ReadFile("demonstration_test.go")
	if err != nil {
		return Table{}, fmt.Errorf("features: %w", err)
	}
	for _, l := range libraries {
		file, err := tests.ReadFile(l.Name + "_test.go")
		if err != nil {
			return Table{}, fmt.Errorf("features: %w", err)
		}
		if err := t.fill(l.Name, string(file), string(demonstrations)); err != nil {
			return Table{}, err
		}
	}
	return t, nil
}

// survey has the answers of the article that differ from the table's.
var survey = map[string]Survey{
	"errgroup: Context":     {Yes, "The article counts the context of WithContext; here it is a part of the answer, since no task is given it."},
	"conc: Waiting for all": {Yes, "The article counts conc.WaitGroup and Wait of a pool; here it is a part of the answer, since Wait ends the pool."},
	"ants: Waiting for all": {No, "In this version ReleaseContext waits for all tasks, but it closes the pool."},
	"ants: Resizing":        {Yes, "Tune raises the limit at once; after it lowers the limit, workers that are idle still count."},
}

// libraries has stint last, and the others in the order of the survey.
var libraries = []Library{
	{"errgroup", "golang.org/x/sync", "v0.24.0"},
	{"conc", "github.com/sourcegraph/conc", "v0.3.0"},
	{"ants", "github.com/panjf2000/ants/v2", "v2.12.1"},
	{"pond", "github.com/alitto/pond/v2", "v2.7.1"},
	{"workerpool", "github.com/gammazero/workerpool", "v1.3.0"},
	{"rill", "github.com/destel/rill", "v0.7.0"},
	{"stint", "github.com/stint-go/stint", "(devel)"},
}

var features = []Feature{
	{"Worker reuse", "A goroutine that has run a task runs the next one too."},
	{"Context", "A task is given a context, which is cancelled when the caller's is."},
	{"Waiting for all", "One call waits until all tasks of the caller have finished, also after an error, and others can go on using the same workers."},
	{"Waiting for one", "Each of several tasks that share a limit can be waited for alone, and returns its result."},
	{"Errors", "A task can return an error, which the waiting caller gets."},
	{"Resizing", "The limit can be changed while tasks run."},

	{"Limit", "Never more tasks run concurrently than a given limit."},
	{"Shared limit", "Callers that each wait for their own tasks can share one limit."},
	{"Two limits", "Some tasks can be held to a small limit and, together with others, to a larger one."},
	{"Nesting", "A task can start tasks under its own limit and wait for them, also at limit 1, and the limit still holds."},
	{"Tasks from tasks", "A task can start further tasks beside itself, also when the limit is reached."},
	{"Adaptive limit", "If no limit is set, the library finds one that gives the best throughput."},
	{"Chunks", "A loop over many tiny items is cut into chunks, so that an item costs far less than a task."},
	{"Fixed function", "A pool can be made for one function: a task is then an argument, and submitting one allocates nothing."},

	{"First error cancels", "After an error the context of running tasks is cancelled, and no further task starts."},
	{"All errors", "Every task's error is available, not only the first."},
	{"Panics", "A task's panic reaches the waiting caller, as a panic or an error, with the task's stack."},
	{"Goexit", "A task that calls runtime.Goexit costs no worker, leaves nobody waiting for ever, and does not count as a success."},

	{"Bounded queue", "The number of accepted tasks that wait is bounded by a number of the caller's."},
	{"Giving up", "A caller that waits for room can give up when a context ends."},
	{"Try", "A task can be started only if that needs no waiting."},
	{"Pausing", "One call keeps further tasks from starting for a while; they are still accepted."},
	{"Dropping the queue", "Queued tasks can be dropped while running ones are waited for."},

	{"Typed results", "A task can return a value of a type of the caller's."},
	{"Results in order", "Results come in the order of the items, whatever order the tasks finish in."},
	{"Ordered stream", "Results of an endless input come in its order while it is read, and a bounded number is held."},
	{"Batches", "Items of a stream are grouped into slices: of a size, or of all that arrived within a time."},

	{"Statistics", "The numbers of running and waiting tasks are available."},
	{"Bubbles", "Everything works in testing/synctest bubbles, repeatedly, and leaves no goroutine behind."},
	{"Zero value", "Submitting tasks needs no constructor: there is a usable zero value, or a function."},
}
