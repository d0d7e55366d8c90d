// Package features is the feature table of libraries for bounded concurrency.
// Each answer is demonstrated by a test against the library version in
// lab/go.mod. The answer is the test's comment, so both are read and changed
// together:
//
//	// Partly. Go in a task waits for ever when the limit is reached.
//	func TestErrgroupTasksFromTasks(t *testing.T) {
//
// A test is named after its library and its feature. This package reads the
// tests as text and imports no library.
package features

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
	Test   string // "TestErrgroupWorkerReuse": go test ./lab/features -run takes it, and no other test's name contains it
	File   string // file of the test: "lab/features/errgroup_test.go"
	Line   int    // first line of the test
	Source string // the text of the test
}

// A Table holds the answers for all libraries and features.
type Table struct {
	Libraries []Library
	Features  []Feature
	Cells     [][]Cell // Cells[f][l] is about Features[f] and Libraries[l]
}

// All returns the table. It returns an error if a test is missing, belongs to
// no feature, or has a comment that is not an answer.
func All() (Table, error) {
	return read(tests, "lab/features", libraries, features)
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
