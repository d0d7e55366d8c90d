package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint"
)

// An outcome is how a task ended: err is nil, or value counts for nothing.
type outcome struct {
	value []byte // encoded
	err   error
	final bool // it is not retried: the function has panicked, or was left behind
}

// failure is an error as it is sent.
type failure struct {
	Text  string   `json:"text"`
	Is    []string `json:"is,omitempty"`    // texts of the errors that errors.Is finds in it
	Panic string   `json:"panic,omitempty"` // the value, as text
	Stack string   `json:"stack,omitempty"` // of the panic
}

// own is a header of each task, each result, and each word that the server is full. It tells
// them from what others make the server send: it answers the requests of anybody on any
// subject, also on one that they may not publish on.
const (
	own    = "Stint"
	valued = "1"      // an item or a value
	failed = "failed" // a result that is a failure

	ownBytes = len("NATS/1.0\r\n" + own + ": " + valued + "\r\n\r\n")
)

// owned returns a message with that header.
func owned(subject string, data []byte) *nats.Msg {
	m := nats.NewMsg(subject)
	m.Header.Set(own, valued)
	m.Data = data
	return m
}

// isOwn reports whether a message has it.
func isOwn(header nats.Header) bool { return header.Get(own) != "" }

// message returns what is published for an outcome. It is never larger than the server
// takes.
func (e *Engine) message(k *kind, subject string, o outcome) *nats.Msg {
	if o.err == nil {
		o.err = e.checkSize(k, "result", o.value)
	}
	m := owned(subject, o.value)
	if o.err == nil {
		return m
	}
	m.Header.Set(own, failed)
	f, most := k.failure(o), int(e.nc.MaxPayload())/32 // a character is up to six when it is encoded
	f.Text, f.Panic, f.Stack = shortened(f.Text, most), shortened(f.Panic, most), shortened(f.Stack, most)
	m.Data, _ = json.Marshal(f) // strings only
	return m
}

// failure returns what is sent of an error. Its methods are the user's, and may panic.
func (k *kind) failure(o outcome) (f failure) {
	defer func() {
		if v := recover(); v != nil {
			f = failure{Text: panicked(v).err.Error()}
		}
	}()
	f = failure{Text: o.err.Error()}
	for _, known := range k.known() {
		if errors.Is(o.err, known) {
			f.Is = append(f.Is, known.Error())
		}
	}
	if p, ok := errors.AsType[*stint.PanicError](o.err); ok {
		f.Panic, f.Stack = fmt.Sprint(p.Value), string(p.Stack)
	}
	return f
}

// outcome returns what a message of message says.
func (k *kind) outcome(header nats.Header, data []byte) outcome {
	if header.Get(own) != failed {
		return outcome{value: data}
	}
	var f failure
	if err := json.Unmarshal(data, &f); err != nil {
		return outcome{err: fmt.Errorf("cluster: %s: a failure that cannot be read: %w", k.name, err)}
	}
	e := &remoteError{text: f.Text}
	for _, known := range k.known() {
		for _, text := range f.Is {
			if known.Error() == text {
				e.is = append(e.is, known)
			}
		}
	}
	if f.Panic != "" || f.Stack != "" {
		e.is = append(e.is, &stint.PanicError{Value: f.Panic, Stack: []byte(f.Stack)})
	}
	return outcome{err: e}
}

// known returns the errors that can be told on the other side.
func (k *kind) known() []error {
	return append([]error{stint.ErrGoexit, ErrPoison, ErrTooLarge, context.Canceled, context.DeadlineExceeded}, k.sentinels...)
}

// A remoteError is an error of a task that ran elsewhere: its text, and those of the
// errors in it that are known here.
type remoteError struct {
	text string
	is   []error
}

func (e *remoteError) Error() string { return e.text }

func (e *remoteError) Unwrap() []error { return e.is }

// run decodes in, calls the function and encodes what it returns.
func (t *Task[In, Out]) run(ctx context.Context, in []byte) ([]byte, error) {
	var v In
	if err := t.kind.unmarshal(in, &v); err != nil {
		return nil, fmt.Errorf("cluster: %s: decode the item: %w", t.kind.name, err)
	}
	out, err := t.call(ctx, v)
	if err != nil {
		return nil, err
	}
	data, err := t.kind.marshal(out)
	if err != nil {
		return nil, fmt.Errorf("cluster: %s: encode the result: %w", t.kind.name, err)
	}
	return data, nil
}

// decoded returns the result that an outcome is.
func (t *Task[In, Out]) decoded(o outcome) (out Out, err error) {
	if o.err != nil {
		return out, o.err
	}
	if err = t.kind.unmarshal(o.value, &out); err != nil {
		var zero Out
		return zero, fmt.Errorf("cluster: %s: decode the result: %w", t.kind.name, err)
	}
	return out, nil
}

// panicked is the outcome of a function that panicked with v. It is called by the
// deferred function that recovered it.
func panicked(v any) outcome {
	p, ok := v.(*stint.PanicError) // of a call of stint's in the task
	if !ok || p == nil {
		p = &stint.PanicError{Value: v, Stack: debug.Stack()}
	}
	return outcome{err: p, final: true}
}

// checkSize returns an error if data is larger than the server takes.
func (e *Engine) checkSize(k *kind, what string, data []byte) error {
	if most := e.nc.MaxPayload() - int64(ownBytes); int64(len(data)) > most {
		return fmt.Errorf("%w: the %s of %s is %d bytes, of %d: give a path or a URL instead", ErrTooLarge, what, k.name, len(data), most)
	}
	return nil
}

// shortened returns text, or its beginning: a failure has to fit into a message.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " ... (cut)"
}
