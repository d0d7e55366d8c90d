// Package features is the table of what libraries for bounded concurrency do
// and do not do. Each answer is demonstrated by a test against the version of
// the library that is in lab/go.mod. The answer is the comment on that test,
// so that the two are read, and changed, together:
//
//	// Partly. Go in a task waits for ever when the limit is reached.
//	func TestErrgroupTasksFromTasks(t *testing.T) {
//
// A test is named after its library and its feature. This package reads the
// tests as text: it does not import the libraries.
package features

// An Answer says whether a library has a feature.
type Answer string

// The answers. What can be built from tasks alone, that block or start others, is
// no feature of a library: every library could be said to have it.
const (
	Yes    Answer = "Yes"    // all that the sentence says, in a form of the library that a caller can choose
	Partly Answer = "Partly" // a part of it, or all with code of the caller's around it; the note says which
	No     Answer = "No"
)

// A Library is a column of the table.
type Library struct {
	Name    string // "errgroup"
	Module  string // "golang.org/x/sync"
	Version string // as in lab/go.mod, or "(devel)" for what lies beside it
}

// A Feature is a row of the table.
type Feature struct {
	Name string // "Worker reuse"
	Doc  string // one sentence that says what must hold
}

// A Cell is the answer of one library about one feature.
type Cell struct {
	Answer Answer
	Note   string // sentences that say how, or why not; empty if there is nothing to say beside yes
	Test   string // "TestErrgroupWorkerReuse"; go test ./lab/features -run takes it, and no other test has it in its name
	File   string // of the test: "lab/features/errgroup_test.go"
	Line   int    // where the test begins in it
	Source string // the text of the test
}

// A Table is what the libraries do.
type Table struct {
	Libraries []Library
	Features  []Feature
	Cells     [][]Cell // Cells[f][l] is about Features[f] and Libraries[l]
}

// All returns the table. It returns an error if a test is missing, or is about
// nothing in the table, or its comment is not an answer.
func All() (Table, error) {
	return read(tests, "lab/features", libraries, features)
}

// libraries are in the order of the survey, and stint is last.
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
	{"Context", "A task is given a context, which ends when the caller's does."},
	{"Waiting for all", "One call waits until all tasks of the caller have ended, also after an error, and others can go on using the same workers."},
	{"Waiting for one", "Of tasks that share a limit each can be waited for alone, and gives its result then."},
	{"Errors", "A task can return an error, and the one who waits gets it."},
	{"Resizing", "The limit can be changed while tasks run, and is kept from then on."},

	{"Limit", "Never more tasks run at once than a number says."},
	{"Shared limit", "Callers that each wait for their own tasks can share one limit."},
	{"Two limits", "Some tasks can be held to a small limit and, together with others, to a larger one."},
	{"Nesting", "A task can start tasks under the limit that it runs under and wait for them, also when that is 1, and no more run at once than it says."},
	{"Tasks from tasks", "A task can start further tasks beside itself, also when the limit is reached."},
	{"Finding the limit", "Without a number, as many tasks run at once as serve best."},
	{"Chunks", "A loop over many tiny items is cut into pieces, so that an item costs far less than a task."},
	{"Fixed function", "A pool can be made for one function: a task is an argument then, and to give it allocates nothing."},

	{"First error cancels", "After an error the context of running tasks ends, and no further task begins."},
	{"All errors", "Every error of every task can be had, not only the first."},
	{"Panics", "A panic of a task reaches the one who waits for it, as a panic or an error, with the stack of the task."},
	{"Goexit", "A task that calls runtime.Goexit costs no worker, makes nobody wait for ever, and is not taken for a success."},

	{"Bounded queue", "How many tasks may wait after they were accepted is bounded by a number of the caller's."},
	{"Giving up", "A caller that waits for room can give up when a context ends."},
	{"Try", "A task can be started only if that takes no waiting."},
	{"Pausing", "One call keeps further tasks from beginning for a while, and they are still accepted."},
	{"Dropping the queue", "What has not begun can be dropped, while what runs is waited for."},

	{"Typed results", "A task can return a value of a type of the caller's."},
	{"Results in order", "Results come in the order of the items, in whichever order the tasks end."},
	{"Ordered stream", "Results of an input without end come in its order while it is read, and only so many are held."},
	{"Batches", "Items of a stream are handed on in slices: of a size, or of what has come when a time is over."},

	{"Statistics", "How many tasks run and how many wait can be asked."},
	{"Bubbles", "Everything works in testing/synctest bubbles, one after the other, and no goroutine is left at their end."},
	{"Zero value", "What takes tasks needs no constructor: it is a zero value, or a function."},
}
