package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// A Task is a function and its name, by which submitters and workers refer to the function. A
// worker passes the Task to Client.Handle. Make a Task with NewTask, in code that submitters
// and workers share.
type Task[In, Out any] struct {
	call func(context.Context, In) (Out, error)
	kind kind
}

// A kind is a Task without its types.
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
}

// A Handler is what Client.Handle accepts: a *Task of any types.
type Handler interface {
	// Name returns the name that NewTask was given.
	Name() string

	about() *kind
	// run decodes in, calls the function and encodes its result.
	run(ctx context.Context, in []byte) (out []byte, err error)
}

// A TaskOption changes a task that NewTask makes. Submitters and workers must make the task
// with the same options.
type TaskOption func(*kind)

// NewTask returns the task with that name, which calls f. Workers run the tasks whose names
// they know, and leave other tasks in the queue. So the name should have the version of the
// function, such as "digest/v1". It has 1 to 100 letters, digits, '-', '_', '.' and '/'.
// NewTask panics if the name is different, or if f is nil.
//
// f may be called again for an item when a worker has died, was cut off or was paused for
// longer than the lease. The first call may then still be running. The first result counts. Use
// TaskInfo to make the effects of f idempotent. The context of f ends with the cause
// ErrCanceled when the run was cancelled, ErrLeaseLost when the lease was lost, and
// stint.ErrClosed when the worker's client was closed.
//
// In and Out are encoded as JSON unless Codec is given. If In or Out is a string type without
// methods that encode or decode it, it may have any bytes. In a field, use the type Text for a
// string that may not be UTF-8. Any other string that is not UTF-8, also as the key of a map,
// is refused, unless its type has a MarshalJSON or MarshalText that returns UTF-8 for it.
func NewTask[In, Out any](name string, f func(context.Context, In) (Out, error), opts ...TaskOption) *Task[In, Out] {
	if f == nil {
		panic("cluster: NewTask: nil function")
	}
	t := &Task[In, Out]{call: f, kind: kind{
		name:      name,
		token:     token("NewTask", name),
		marshal:   encode,
		unmarshal: decode,
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

// Name returns the name that NewTask was given.
func (t *Task[In, Out]) Name() string { return t.kind.name }

func (t *Task[In, Out]) about() *kind { return &t.kind }

// Codec sets how items and results are encoded. The default is JSON: see NewTask. marshal gets
// an In or an Out, and unmarshal a pointer to an In or an Out. Both may be called concurrently.
// Codec panics if marshal or unmarshal is nil.
func Codec(marshal func(any) ([]byte, error), unmarshal func([]byte, any) error) TaskOption {
	if marshal == nil || unmarshal == nil {
		panic("cluster: Codec: nil function")
	}
	return func(k *kind) { k.marshal, k.unmarshal = marshal, unmarshal }
}

// Lease sets how long a worker has a task after its last heartbeat. The default is 30 s. A
// worker sends a heartbeat each third of the lease. When the lease ends, the server gives the
// task to another worker. An idle worker renews its request for tasks each third of the lease,
// or each 2 s if that is shorter. The longest lease that was ever given for a name counts. For
// a shorter lease, give the task another name. Lease panics if d is less than 30 ms.
func Lease(d time.Duration) TaskOption {
	if d < 30*time.Millisecond {
		panic(fmt.Sprintf("cluster: Lease(%v): want 30ms or more", d))
	}
	return func(k *kind) { k.lease = d }
}

// Retry makes the worker call the function again after an error, at most times times. The
// worker waits before each retry: first for the time wait, then each time twice as long as
// before, up to a minute. Each wait is shortened by a random part, up to half of it. The task
// keeps its slot meanwhile. The default is no retry. A panic is not retried. Retry panics if
// times or wait is negative.
func Retry(times int, wait time.Duration) TaskOption {
	if times < 0 || wait < 0 {
		panic(fmt.Sprintf("cluster: Retry(%d, %v): want 0 or more", times, wait))
	}
	return func(k *kind) { k.retries, k.wait = times, wait }
}

// Sentinels names errors that the submitter can find by errors.Is in the error of a task, if
// the worker finds them there. They are recognized by their text. Sentinels panics if an error
// is nil.
func Sentinels(errs ...error) TaskOption {
	for _, err := range errs {
		if err == nil {
			panic("cluster: Sentinels: nil error")
		}
	}
	return func(k *kind) { k.sentinels = append(k.sentinels, errs...) }
}

// token returns name as it is written in subjects and in names of consumers, where a slash
// and a dot have a meaning. It panics, with the name of the caller, if name is not allowed.
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

// tokenOf is token without the check.
func tokenOf(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "/", "="), ".", "~")
}

// untoken returns the name that tokenOf made t of.
func untoken(t string) string {
	return strings.ReplaceAll(strings.ReplaceAll(t, "=", "/"), "~", ".")
}

// Info describes the task that a function was called for.
type Info struct {
	ID      string // of the task, the same in every attempt: a key for idempotent effects
	Run     string // the name of its run
	Index   int    // of the item in the run, from 0
	Attempt int    // number of this call for the item, from 1: counts deliveries to workers, and retries of this worker
	Call    string // a name that only this call has
}

// TaskInfo returns the Info of the task whose context is ctx. For the context of a source of
// MapFrom only Run is set. For other contexts TaskInfo returns the zero Info.
func TaskInfo(ctx context.Context) Info {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c.Info
	}
	return Info{}
}
