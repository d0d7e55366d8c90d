package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// A Part is data that a function has sent by SendPart.
type Part struct {
	Index int    // of the item
	Call  string // of the function that has sent it: its Info.Call
	Data  []byte // f may keep it
}

// Parts makes MapSeq or MapFrom call f with the parts that functions send by SendPart. The
// parts of one call of a function are given to f once each, in the order in which they were
// sent, and before the result of the call is yielded. If the server has lost a part, the task
// fails. A function may be called more than once for an item, so f may also get parts of calls
// whose result does not count. A result that has Info.Call says which parts belong to it.
//
// Calls of f are not concurrent with each other, but they are concurrent with the body of the
// range. No result arrives while f runs. The run ends after the last call of f. f must not
// panic. Resume gets no parts. Parts panics if f is nil.
func Parts(f func(Part)) Option {
	if f == nil {
		panic("cluster: Parts: nil function")
	}
	return option("Parts", func(o *options) { o.parts = f })
}

const (
	partHeader = own + "-Part" // the call and a number: of a part, from 1, and the index; or of the parts of a result
	partBytes  = len(partHeader + ": " + "22 letters of an ID    " + " 1234567890" + " 1234567890" + "\r\n")

	// maxParts is how many parts of a run the server keeps: each has one of as many subjects, which
	// takes no other part before the submitter has removed that.
	maxParts     = 64
	maxPartsRoom = 64 << 20 // bytes of them, if they are as large as the one that is sent
)

// A call is one call of a task's function.
type call struct {
	Info
	worker *worker // nil: it is the source of a run
	lease  *lease

	mu   sync.Mutex
	sent int // parts
	slot int // of the latest
}

type callKey struct{}

// SendPart sends data to the submitter of a task before the result. ctx must be the context of
// the function that runs the task: see Parts. With parts a result may be larger than a message,
// and nobody has to hold all of it. A submitter without Parts drops the data.
//
// SendPart waits while the server is out of reach, or while it has 64 parts of the run, fewer if
// they are large, that the submitter has not taken. It returns nil when the server has the part,
// the cause when ctx ends, and ErrTooLarge for more bytes than Client.MaxMessage returns. It does
// not keep data.
func SendPart(ctx context.Context, data []byte) error {
	c, _ := ctx.Value(callKey{}).(*call)
	if c == nil || c.worker == nil {
		return errors.New("cluster: SendPart: the context is not that of a task's function")
	}
	client := c.worker.client
	if err := client.checkSize(c.lease.kind(), "part", "results", data); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lease.parted.Store(true)
	m := owned("", data)
	m.Header.Set(partHeader, c.header(c.sent+1))
	var err error
	stored := c.worker.persist(c.lease, "part", func() error {
		if err = context.Cause(ctx); err != nil {
			return nil
		}
		if m.Subject, err = c.nextSubject(ctx, len(data)); err == nil {
			err = client.storeOnce(m)
		}
		if refusalOf(err) == taken { // by another call, or by an attempt without an answer
			c.slot = -1
		}
		return err
	})
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if !stored {
		return fmt.Errorf("cluster: SendPart: %w", err)
	}
	c.sent++
	return nil
}

// errNoPartRoom is why a part waits.
var errNoPartRoom = errors.New("the submitter has not taken earlier parts of the run")

// partSubject returns a subject for parts of a run.
func (c *Client) partSubject(key, slot string) string {
	return c.names.subject("result", key, "part", slot)
}

// partSlots returns how many parts of that size the server keeps for a run: a stream of bounded
// size, or an account, keeps room for results.
func (c *Client) partSlots(bytes int) int {
	room := int64(maxPartsRoom)
	if have := c.stream["results"].CachedInfo().Config.MaxBytes; have > 0 {
		room = min(room, have/4)
	}
	if c.conf.memory && c.limits.MaxMemory > 0 {
		room = min(room, c.limits.MaxMemory/4)
	} else if !c.conf.memory && c.limits.MaxStore > 0 {
		room = min(room, c.limits.MaxStore/4)
	}
	return int(min(max(room/int64(max(bytes, 1)), 1), maxParts))
}

// nextSubject returns the subject for the next part: the one after that of the part before, or, if
// that was taken, any that is free.
func (c *call) nextSubject(ctx context.Context, bytes int) (string, error) {
	client := c.worker.client
	n := client.partSlots(bytes)
	if c.slot >= 0 {
		c.slot = (c.slot + 1) % n
		return client.partSubject(c.lease.key, strconv.Itoa(c.slot)), nil
	}
	there, err := client.subjects(ctx, "results", client.partSubject(c.lease.key, "*"))
	if err != nil {
		return "", err
	}
	for start, i := rand.IntN(n), 0; i < n; i++ {
		slot := (start + i) % n
		if subject := client.partSubject(c.lease.key, strconv.Itoa(slot)); there[subject] == 0 {
			c.slot = slot
			return subject, nil
		}
	}
	return "", errNoPartRoom
}

// parts returns which parts belong to the result of the call, as a header.
func (c *call) parts() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sent == 0 {
		return ""
	}
	return c.header(c.sent)
}

func (c *call) header(n int) string { return fmt.Sprintf("%s %d %d", c.Call, n, c.Index) }

// parseParts is the reverse of header.
func parseParts(header string) (call string, n, index int, err error) {
	_, err = fmt.Sscanf(header, "%s %d %d", &call, &n, &index)
	return call, n, index, err
}

// receivePart takes a part. The server has the parts of a call in order, some perhaps twice, as a
// confirmation was lost.
func (r *run) receivePart(header nats.Header, data []byte) {
	call, n, index, err := parseParts(header.Get(partHeader))
	if err != nil || r.rec.parts == nil {
		return
	}
	r.mu.Lock()
	c, pulled := r.cells[index]
	next := pulled && !c.arrived && n == c.parts[call]+1
	if next {
		if c.parts == nil {
			c.parts = map[string]int{}
			r.cells[index] = c
		}
		c.parts[call] = n
		r.full = time.Time{}
	}
	r.mu.Unlock()
	if next {
		r.rec.parts(Part{Index: index, Call: call, Data: data})
	}
}

// hasParts reports whether the parts have arrived that belong to a result.
func (r *run) hasParts(i int, header string) bool {
	if header == "" || r.rec.parts == nil {
		return true
	}
	call, n, _, err := parseParts(header)
	r.mu.Lock()
	defer r.mu.Unlock()
	c, waits := r.cells[i]
	return !waits || c.arrived || err == nil && c.parts[call] == n
}
