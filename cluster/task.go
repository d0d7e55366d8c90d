package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// A Task is a function with a name, by which the machines of a cluster know it. It is a
// Handler: a worker runs it after Handle. Make one with NewTask, in code that submitters
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

// A Handler is a task that a worker can run: a *Task.
type Handler interface {
	// Name returns the name that NewTask was given.
	Name() string

	about() *kind
	// run decodes in, calls the function and encodes its result.
	run(ctx context.Context, in []byte) (out []byte, err error)
}

// A TaskOption changes a task that NewTask makes. Submitters and workers give the same.
type TaskOption func(*kind)

// NewTask returns the task with that name, which calls f. Workers run the tasks whose names
// they know, and leave others in the queue; so a name should say which version of the
// function it means, such as "digest/v1".
//
// f may be called more than once for an item: when a worker has died, was cut off or was
// paused for longer than the lease, and the first call may still be running. The first result
// counts. TaskInfo helps f to make its effects idempotent. The context of f ends with the
// cause ErrCanceled when the run was cancelled, ErrLeaseLost when the lease was lost, and
// stint.ErrClosed when the worker's client was closed.
//
// In and Out are encoded as JSON unless Codec is given. A string that is not UTF-8 keeps its
// bytes if In or Out is a string type without methods that encode or decode it. Elsewhere, even
// as the key of a map, it is refused, unless it is a field of the type Text or its type has a
// MarshalJSON or MarshalText that returns something else for it. Such a method answers for the
// bytes that it changes itself. A name has 1 to 100 letters, digits, '-', '_', '.' and '/'. NewTask
// panics if it has not, or if f is nil.
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

// Codec sets how items and results are encoded; the default is JSON, as NewTask says. marshal gets
// an In or an Out, unmarshal a pointer to one. Both may be called concurrently. Codec panics
// if one of them is nil.
func Codec(marshal func(any) ([]byte, error), unmarshal func([]byte, any) error) TaskOption {
	if marshal == nil || unmarshal == nil {
		panic("cluster: Codec: nil function")
	}
	return func(k *kind) { k.marshal, k.unmarshal = marshal, unmarshal }
}

// Lease sets how long a worker has a task after its last heartbeat; the default is 30 s. A
// worker sends a heartbeat each third of that. When the lease ends, the server gives the
// task to another worker. An idle worker renews its request for tasks each third of the
// lease too, or each 2 s if that is shorter. The longest lease that was ever given for a
// name counts: for a shorter lease, give the task another name. Lease panics if d is less
// than 30 ms.
func Lease(d time.Duration) TaskOption {
	if d < 30*time.Millisecond {
		panic(fmt.Sprintf("cluster: Lease(%v): want 30ms or more", d))
	}
	return func(k *kind) { k.lease = d }
}

// Retry makes the worker call the function again after an error, at most times times. The
// worker waits before each retry, first wait, then twice as long as before up to a minute,
// less a random part of up to half; the task keeps its slot. The default is no retry. A
// panic is not retried. Retry panics if times or wait is negative.
func Retry(times int, wait time.Duration) TaskOption {
	if times < 0 || wait < 0 {
		panic(fmt.Sprintf("cluster: Retry(%d, %v): want 0 or more", times, wait))
	}
	return func(k *kind) { k.retries, k.wait = times, wait }
}

// Sentinels names errors that errors.Is finds in the error of a task at the submitter, if it
// finds them at the worker. They are recognized by their text. Sentinels panics if one is nil.
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

// Info says which task a function was called for.
type Info struct {
	ID      string // of the task, the same in every attempt: a key for idempotent effects
	Run     string // the name of its run
	Index   int    // of the item in the run, from 0
	Attempt int    // of the calls for the item, from 1: deliveries to workers, and the retries of this one
	Call    string // names this call: no other one has it
}

// TaskInfo returns the Info of the task whose context ctx is. For the context of a source of MapFrom
// it has the Run only; for other contexts it is the zero Info.
func TaskInfo(ctx context.Context) Info {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c.Info
	}
	return Info{}
}
