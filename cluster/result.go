package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint"
)

// An outcome is how a task has ended: with err, or, if that is nil, with value.
type outcome struct {
	value []byte // encoded
	err   error
	final bool   // it is not retried: the function has panicked, or was abandoned
	parts string // of a value: which parts belong to it, as a header; "" if none
}

// A failure is an error in a message.
type failure struct {
	Text  Text   `json:"text"`
	Is    []Text `json:"is,omitempty"`    // texts of the errors that errors.Is finds in it
	Panic Text   `json:"panic,omitempty"` // the value
	Stack Text   `json:"stack,omitempty"` // of the panic
}

// own is a header of messages that clients publish: tasks, results, and warnings of a full
// server. It distinguishes them from answers of the server, which any client can direct to
// any subject by a request.
const (
	own    = "Stint"
	valued = "1"      // of an item or a value
	failed = "failed" // of a failure

	ownBytes = len("NATS/1.0\r\n"+own+": "+valued+"\r\n\r\n") + partBytes
)

// owned returns a message with the header own.
func owned(subject string, data []byte) *nats.Msg {
	m := nats.NewMsg(subject)
	m.Header.Set(own, valued)
	m.Data = data
	return m
}

// isOwn reports whether a message has the header own.
func isOwn(header nats.Header) bool { return header.Get(own) != "" }

// message returns the message for an outcome. It is never larger than the server accepts.
func (c *Client) message(k *kind, subject string, o outcome) *nats.Msg {
	if o.err == nil {
		o.err = c.checkSize(k, "result", "results", o.value)
	}
	m := owned(subject, o.value)
	if o.err == nil {
		if o.parts != "" {
			m.Header.Set(partHeader, o.parts)
		}
		return m
	}
	m.Header.Set(own, failed)
	f, limit := k.failure(o), int(c.maxData("results"))/32 // encoded, a character is up to six
	f.Text, f.Panic, f.Stack = truncate(f.Text, limit), truncate(f.Panic, limit), truncate(f.Stack, limit)
	m.Data, _ = json.Marshal(f) // strings only
	return m
}

// failure returns the failure of an outcome. The error is the user's, and its methods may panic.
func (k *kind) failure(o outcome) (f failure) {
	defer func() {
		if v := recover(); v != nil {
			f = failure{Text: Text(panicked(v).err.Error())}
		}
	}()
	f = failure{Text: Text(o.err.Error())}
	for _, known := range k.known() {
		if errors.Is(o.err, known) {
			f.Is = append(f.Is, Text(known.Error()))
		}
	}
	if p, ok := errors.AsType[*stint.PanicError](o.err); ok {
		f.Panic, f.Stack = Text(fmt.Sprint(p.Value)), Text(p.Stack)
	}
	return f
}

// outcome returns the outcome in a message that message has made.
func (k *kind) outcome(header nats.Header, data []byte) outcome {
	if header.Get(own) != failed {
		return outcome{value: data, parts: header.Get(partHeader)}
	}
	var f failure
	if err := json.Unmarshal(data, &f); err != nil {
		return outcome{err: fmt.Errorf("cluster: %s: a failure that cannot be read: %w", k.name, err)}
	}
	e := &remoteError{text: string(f.Text)}
	for _, known := range k.known() {
		for _, text := range f.Is {
			if known.Error() == string(text) {
				e.is = append(e.is, known)
			}
		}
	}
	if f.Panic != "" || f.Stack != "" {
		e.is = append(e.is, &stint.PanicError{Value: string(f.Panic), Stack: []byte(f.Stack)})
	}
	return outcome{err: e}
}

// known returns the errors that the submitter recognizes.
func (k *kind) known() []error {
	return append([]error{stint.ErrGoexit, ErrPoison, ErrTooLarge, context.Canceled, context.DeadlineExceeded}, k.sentinels...)
}

// A remoteError is the error of a task: its text, and the known errors in it.
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

// decoded returns the result in an outcome.
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

// panicked returns the outcome of a function that has panicked with v. The deferred function
// that recovered v calls it.
func panicked(v any) outcome {
	p, ok := v.(*stint.PanicError) // raised by a call of stint in the task
	if !ok || p == nil {
		p = &stint.PanicError{Value: v, Stack: debug.Stack()}
	}
	return outcome{err: p, final: true}
}

// checkSize returns ErrTooLarge if data is larger than the server accepts.
func (c *Client) checkSize(k *kind, what, stream string, data []byte) error {
	if limit := c.maxData(stream); int64(len(data)) > limit {
		return fmt.Errorf("%w: the %s of %s is %d bytes, of %d: give a path or a URL instead", ErrTooLarge, what, k.name, len(data), limit)
	}
	return nil
}

// truncate returns text, or its start: a failure has to fit into a message.
func truncate(text Text, limit int) Text {
	if len(text) <= limit {
		return text
	}
	for back := 0; back < utf8.UTFMax && limit > 0 && !utf8.RuneStart(text[limit]); back++ { // in a character
		limit--
	}
	return text[:limit] + " ... (cut)"
}
