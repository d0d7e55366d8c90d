package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// A Task is a function with a name, by which the machines of a cluster know it. It
// is a Handler: a worker that was given it to Handle runs it. Make one with NewTask,
// once, in code that submitters and workers share.
type Task[In, Out any] struct {
	call func(context.Context, In) (Out, error)
	kind kind
}

// A kind is what a Task is besides its types.
type kind struct {
	name      string
	token     string // the name in subjects and in names of consumers
	marshal   func(any) ([]byte, error)
	unmarshal func([]byte, any) error
	lease     time.Duration
	retries   int
	wait      time.Duration // before the first retry
	timeout   time.Duration // of one call; 0: none
	sentinels []error
	window    int64 // bytes that a run may have under way; 0: any number
}

// A Handler is a task that a worker can run: a *Task.
type Handler interface {
	// Name returns the name that the task was made with.
	Name() string

	about() *kind
	// run decodes in, calls the function and encodes what it returns.
	run(ctx context.Context, in []byte) (out []byte, err error)
}

// A TaskOption changes a task that NewTask makes. Submitters and workers give the same.
type TaskOption func(*kind)

// NewTask returns the task with that name, which calls f. The name is what decides
// which worker may run it, so it says which version of the function it means:
// "digest/v1". Workers that do not know a name leave its tasks in the queue.
//
// f may be called more than once for one item: after a worker has died, was cut off
// or was paused for longer than the lease, while the first call may be running still.
// Of several results the first counts. TaskInfo gives f what it needs to make its own
// effects happen once. Its context ends when the run was cancelled (the cause is
// ErrCanceled), when the lease was lost (ErrLeaseLost), or when the engine of the
// worker was closed (stint.ErrClosed).
//
// The name consists of letters, digits, '-', '_', '.' and '/'. In and Out are encoded
// as JSON, unless Codec is given. NewTask panics if the name is empty or has another
// character, or f is nil.
func NewTask[In, Out any](name string, f func(context.Context, In) (Out, error), opts ...TaskOption) *Task[In, Out] {
	if f == nil {
		panic("cluster: NewTask: nil function")
	}
	t := &Task[In, Out]{call: f, kind: kind{
		name:      name,
		token:     token("NewTask", name),
		marshal:   json.Marshal,
		unmarshal: json.Unmarshal,
		lease:     30 * time.Second,
	}}
	for _, opt := range opts {
		if opt == nil {
			panic("cluster: NewTask: nil TaskOption")
		}
		opt(&t.kind)
	}
	return t
}

// Name returns the name that the task was made with.
func (t *Task[In, Out]) Name() string { return t.kind.name }

func (t *Task[In, Out]) about() *kind { return &t.kind }

// Codec sets how items and results are written and read; the default is that of
// encoding/json. marshal gets a value of In or Out, unmarshal a pointer to one. Both
// are called by several goroutines at once. Codec panics if one of them is nil.
func Codec(marshal func(any) ([]byte, error), unmarshal func([]byte, any) error) TaskOption {
	if marshal == nil || unmarshal == nil {
		panic("cluster: Codec: nil function")
	}
	return func(k *kind) { k.marshal, k.unmarshal = marshal, unmarshal }
}

// Lease sets for how long a worker has a task without saying that it still works on
// it; the default is 30 s. It says so each third of that, and while it is idle asks for
// tasks anew each third too, or each two seconds if that is sooner. A task whose worker died is
// given to another one when the lease has ended: not sooner. For a name the longest
// counts that a submitter or a worker has ever given: to make it shorter, give the task another name.
// Lease panics if d is less than 30 ms.
func Lease(d time.Duration) TaskOption {
	if d < 30*time.Millisecond {
		panic(fmt.Sprintf("cluster: Lease(%v): want 30ms or more", d))
	}
	return func(k *kind) { k.lease = d }
}

// Retry makes the worker call the function again after an error, up to that many
// times, before the error is the result. It waits before each, first that long and
// then twice as long as before, up to a minute, and a random part less, up to half.
// The task keeps its place on the worker meanwhile. The default is not to retry.
// A panic is not retried. Retry panics if times or wait is negative.
func Retry(times int, wait time.Duration) TaskOption {
	if times < 0 || wait < 0 {
		panic(fmt.Sprintf("cluster: Retry(%d, %v): want 0 or more", times, wait))
	}
	return func(k *kind) { k.retries, k.wait = times, wait }
}

// Sentinels names errors that errors.Is finds in the error of a task on the
// submitter's side as well, if it found them on the worker's. They are known by
// their text. Sentinels panics if one is nil.
func Sentinels(errs ...error) TaskOption {
	for _, err := range errs {
		if err == nil {
			panic("cluster: Sentinels: nil error")
		}
	}
	return func(k *kind) { k.sentinels = append(k.sentinels, errs...) }
}

// WindowBytes bounds how many bytes a run has under way, as Limit and Queue bound how many
// tasks: encoded items whose results have not come, and encoded results that the caller has not taken. A
// missing result is counted as large as the largest received so far; before the first, as the
// server's maximum message size, a mebibyte by default. When it is n or more no item is pulled
// until it is less.
// If nothing is under way one always is. So it may be exceeded by an item, and by results larger
// than those before. The default is no bound.
//
// It does not count what the values need when they are decoded, what Map has yet to return, the texts of
// errors, what the server keeps of runs with a Name, and what Resume holds. Workers do
// not read it. WindowBytes panics if n is less than 1.
func WindowBytes(n int) TaskOption {
	if n < 1 {
		panic(fmt.Sprintf("cluster: WindowBytes(%d): want 1 or more", n))
	}
	return func(k *kind) { k.window = int64(n) }
}

// token returns name as it is written in subjects and in names of consumers, where
// a slash and a dot have a meaning. It panics with the name of the caller.
func token(caller, name string) string {
	if !isName(name) {
		panic(fmt.Sprintf("cluster: %s: name %q: want 1 to 100 letters, digits, '-', '_', '.' and '/'", caller, name))
	}
	return tokenOf(name)
}

// isName reports whether a task or a run may have that name.
func isName(name string) bool {
	bad := strings.ContainsFunc(name, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("-_./", c))
	})
	return name != "" && len(name) <= 100 && !bad
}

// tokenOf returns that of a name that was read, and not given.
func tokenOf(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "/", "="), ".", "~")
}

// untoken returns the name that token made t of.
func untoken(t string) string {
	return strings.ReplaceAll(strings.ReplaceAll(t, "=", "/"), "~", ".")
}

// Info says which task a function was called for.
type Info struct {
	ID      string // of the task, the same in every attempt: a key that makes effects idempotent
	Run     string // the run that the task belongs to
	Index   int    // of the item in the run, from 0
	Attempt int    // how often the task was given to a worker, and the retries of this one: 1 for the first call
}

type infoKey struct{}

// TaskInfo returns what the context of a task says of it. It is the zero Info for
// another context.
func TaskInfo(ctx context.Context) Info {
	info, _ := ctx.Value(infoKey{}).(Info)
	return info
}
